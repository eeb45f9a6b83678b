package engine

import _ "embed"

// PolicySchema is the JSON Schema (draft 2020-12) of a Policy file. Its
// descriptions are the reference of the keys.
//
//go:embed policy.schema.json
var PolicySchema []byte
