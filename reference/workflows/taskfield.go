package workflows

import (
	"bytes"
	"encoding/json"
)

// metaTask is where a tools/call keeps the field task on its way to the session,
// whose own type of the parameters has none.
const metaTask = "holdfast/task"

// taskToMeta moves the field task of a tools/call into its _meta. Every other
// message stays byte for byte as it is.
func taskToMeta(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"task"`)) {
		return raw
	}
	var message, params, meta map[string]json.RawMessage
	if json.Unmarshal(raw, &message) != nil || string(message["method"]) != `"tools/call"` || json.Unmarshal(message["params"], &params) != nil {
		return raw
	}
	task, there := params["task"]
	if !there {
		return raw
	}
	if given, there := params["_meta"]; there && json.Unmarshal(given, &meta) != nil {
		return raw // the session refuses it
	}
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta[metaTask] = task
	delete(params, "task")
	var err error
	if params["_meta"], err = json.Marshal(meta); err == nil {
		message["params"], err = json.Marshal(params)
	}
	moved, last := json.Marshal(message)
	if err != nil || last != nil {
		return raw
	}
	return moved
}
