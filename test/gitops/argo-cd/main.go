// Reports whether Argo CD would show an object of a cluster as out of sync with a manifest, with the diffing library of Argo CD.
// Usage: argo-cd KUBECONFIG MANIFEST client|structured|server
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kube-openapi/pkg/util/proto"
	"sigs.k8s.io/yaml"
)

// The field manager of Argo CD for server-side apply.
const manager = "argocd-controller"

// live returns the object of the cluster for a manifest.
type live struct {
	objects dynamic.ResourceInterface
}

// Run runs the dry run of a server-side diff.
func (l live) Run(ctx context.Context, wanted *unstructured.Unstructured, manager string) (string, error) {
	body, err := wanted.MarshalJSON()
	if err != nil {
		return "", err
	}
	force := true
	predicted, err := l.objects.Patch(ctx, wanted.GetName(), types.ApplyPatchType, body,
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: manager, Force: &force})
	if err != nil {
		return "", err
	}
	text, err := predicted.MarshalJSON()
	return string(text), err
}

func main() {
	modified, err := modified(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(modified)
}

func modified(kubeconfig, manifest, mode string) (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
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
	resource, _ := meta.UnsafeGuessKindToResource(wanted.GroupVersionKind())
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return "", err
	}
	found := live{client.Resource(schema.GroupVersionResource(resource)).Namespace(wanted.GetNamespace())}
	there, err := found.objects.Get(context.Background(), wanted.GetName(), metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	asked, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", err
	}
	document, err := asked.OpenAPISchema()
	if err != nil {
		return "", err
	}
	models, err := proto.NewOpenAPIData(document)
	if err != nil {
		return "", err
	}
	parser, err := managedfields.NewGVKParser(models, false)
	if err != nil {
		return "", err
	}
	result, err := diff.Diff(wanted, there, diff.WithManager(manager), diff.WithGVKParser(parser),
		diff.WithStructuredMergeDiff(mode == "structured"),
		diff.WithServerSideDiff(mode == "server"), diff.WithServerSideDryRunner(found))
	if err != nil {
		return "", err
	}
	if !result.Modified {
		return "in sync", nil
	}
	return fmt.Sprintf("out of sync\n%s\n%s", result.NormalizedLive, result.PredictedLive), nil
}
