// Command pulumi-resource-kubernetes is the Pulumi provider for Kubernetes.
//
// The provider's own main package embeds two files that its release process generates and that
// are not part of the Go module. This one embeds the same two, which hack/cluster/build-tools.sh
// copies here from the module before it builds (schema.json with "version" set).
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is set by the linker; programs name it as the provider version.
var version string

//go:embed schema-embed.json
var schema []byte

//go:embed terraform-mapping-embed.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version, schema, terraformMapping)
}
