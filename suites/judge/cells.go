package judge

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// text reads a column of a row as text; numbers and booleans are printed, a
// missing column is "".
func text(row map[string]any, column string) string {
	switch v := row[column].(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64) // fmt writes 1e+06
	default:
		return fmt.Sprint(v)
	}
}

// number reads a column of a row as a number; digits in a text are one too, as
// some stores have it. What is missing or no number is 0.
func number(row map[string]any, column string) int {
	switch v := row[column].(type) {
	case float64:
		return int(v)
	case int64:
		return int(v)
	case int:
		return v
	case json.Number:
		n, _ := v.Int64()
		return int(n)
	case string:
		n, _ := strconv.Atoi(v)
		return n
	default:
		return 0
	}
}

// truth reads a column of a row as yes or no, in any of the ways in which a
// store has it.
func truth(row map[string]any, column string) bool {
	switch v := row[column].(type) {
	case bool:
		return v
	case string:
		yes, err := strconv.ParseBool(v)
		return err == nil && yes
	default:
		return number(row, column) != 0
	}
}

// texts reads a column of a row as a list of texts; a list of objects gives
// their text column, and a text may itself hold the list as JSON, as a store
// that knows no lists has it. A missing column is an empty list. False means
// that it is anything else than a list, which says nothing.
func texts(row map[string]any, column string) ([]string, bool) {
	switch v := row[column].(type) {
	case nil:
		return nil, true
	case []string:
		return v, true
	case []any:
		return listed(v), true
	case string:
		var list []any
		if json.Unmarshal([]byte(v), &list) != nil {
			return nil, false
		}
		return listed(list), true
	}
	return nil, false
}

func listed(list []any) []string {
	var out []string
	for _, v := range list {
		if object, ok := v.(map[string]any); ok {
			out = append(out, text(object, "text"))
			continue
		}
		out = append(out, text(map[string]any{"": v}, ""))
	}
	return out
}

// columns lists one column of all rows.
func columns(rows []map[string]any, column string) []string {
	var out []string
	for _, row := range rows {
		out = append(out, text(row, column))
	}
	return out
}

// kinds counts intents by their kind.
func kinds(intents []map[string]any) map[string]int { return count(columns(intents, "kind")) }
