#!/bin/sh
# Shell and jq: a pipeline with one server for any number of requests.
# Usage: shell.sh URL…
jq -cn '$ARGS.positional | to_entries[] | {jsonrpc: "2.0", id: .key, method: "retrieve", params: {url: .value}}' --args "$@" |
  "${HALCYON_BIN:-halcyon}" |
  # Answers come as soon as they are ready: the ids put them into order.
  jq -rs 'sort_by(.id)[] |
    if .error then "error \(.error.data.name)" else .result | "\(.width) \(.height) \(.cacheType) \(.path)" end'
