// Package postrender reads a stream of rendered manifests, has the engine plan
// what the routes in it ask for, and writes the stream again with the computed
// listeners and Certificates in it.
//
// What it does not edit it does not touch: documents are sub-slices of the
// input and come out byte for byte, most of them unparsed. A Gateway is edited
// in its text, by adding lines; every edit is read back and compared with what
// it should say before it counts.
//
// The flow of [Render], one step after the other:
//
//	split.go, layout.go   the stream cut into documents
//	scan.go               which of them can concern us
//	parse.go, decode.go, path.go   a document as nodes, and as maps
//	stream.go, identity.go  the objects in it, for the engine
//	edit.go, companions.go  what the plan changes, document by document
//	apply.go, change.go   the changes of a document, proven right
//	splice.go, flow.go    a change as text
//	rewrite.go            a change as nodes, where the text cannot show it
//	encode.go, scalar.go  what we add, as YAML
//	render.go             all of it in a row
package postrender
