// Reports whether Flux would correct an object of a cluster to match a manifest, with the drift library of Flux.
// Usage: flux KUBECONFIG MANIFEST kustomize-controller|helm-controller
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func main() {
	drift, err := drift(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(drift)
}

func drift(kubeconfig, manifest, controller string) (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return "", err
	}
	cluster, err := client.New(config, client.Options{})
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(manifest)
	if err != nil {
		return "", err
	}
	wanted := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &wanted.Object); err != nil {
		return "", err
	}
	ctx := context.Background()
	// The steps of helm-controller for spec.driftDetection.
	if controller == "helm-controller" {
		found, err := jsondiff.Unstructured(ctx, cluster, wanted, jsondiff.FieldOwner(controller))
		if err != nil {
			return "", err
		}
		if found.Type == jsondiff.DiffTypeNone {
			return "in sync", nil
		}
		return fmt.Sprintf("out of sync\n%s %s", found.Type, found.Patch), nil
	}
	manager := ssa.NewResourceManager(cluster, nil, ssa.Owner{Field: controller, Group: "kustomize.toolkit.fluxcd.io"})
	entry, _, predicted, err := manager.Diff(ctx, wanted, ssa.DefaultDiffOptions())
	if err != nil {
		return "", err
	}
	if entry.Action == ssa.UnchangedAction {
		return "in sync", nil
	}
	return fmt.Sprintf("out of sync\n%s %v", entry.Action, predicted), nil
}
