// Package cli is the command line of gatewright: flags in, one exit code out.
//
// Two executables share it. gatewright is lean, because Helm starts it on every
// command; gatewright-full links the Helm SDK as well and is handed the commands
// that render a chart. Both have the same commands, flags and messages.
//
// Each command is one short function: read the input, plan, print. What is
// decided is decided by package engine; nothing here knows a rule.
package cli
