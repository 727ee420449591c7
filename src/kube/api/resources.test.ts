import { expect, it } from "vitest";
import { resourcePath, resources } from "./resources.ts";

it("names resources in paths by the plural of their kind", () => {
  const { pods, secretProviderClasses, mutatingAdmissionPolicies, endpointSlices } = resources;
  expect(resourcePath(pods, { namespace: "a", name: "b" })).toBe("/api/v1/namespaces/a/pods/b");
  expect(resourcePath(endpointSlices)).toBe("/apis/discovery.k8s.io/v1/endpointslices");
  expect(secretProviderClasses.plural).toBe("secretproviderclasses");
  expect(mutatingAdmissionPolicies.plural).toBe("mutatingadmissionpolicies");
});
