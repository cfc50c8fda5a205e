"""Validates a JSON document against the OpenRPC meta-schema beside this file, without the network.

Usage: validate.py DOCUMENT.json. Needs the Debian package python3-jsonschema. Exit code 1 and one line per offence.
"""

import json
import pathlib
import sys

import jsonschema


def main() -> int:
    folder = pathlib.Path(__file__).parent
    meta = json.loads((folder / "openrpc-1.3-schema.json").read_text())
    document = json.loads(pathlib.Path(sys.argv[1]).read_text())
    # The meta-schema refers to JSON Schema by an address of its own; draft 7 is what stands there.
    draft = dict(jsonschema.Draft7Validator.META_SCHEMA)
    draft["definitions"] = {**draft["definitions"], "JSONSchemaObject": {"properties": {"$ref": {"type": "string"}}}}
    address = "https://meta.json-schema.tools"
    store = {address: draft, address + "/": draft}
    resolver = jsonschema.RefResolver(meta["$id"], meta, store=store)
    offences = list(jsonschema.Draft7Validator(meta, resolver=resolver).iter_errors(document))

    # The meta-schema sees only one method or schema at a time: references must also lead somewhere.
    offences_found = [f"/{'/'.join(map(str, offence.absolute_path))}: {offence.message[:300]}" for offence in offences]
    offences_found += [f"{pointer}: leads nowhere" for pointer in references(document) if not leads(document, pointer)]
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        try:
            jsonschema.Draft7Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            offences_found.append(f"components/schemas/{name}: {error.message[:300]}")
    for offence in offences_found:
        print(offence)
    return 1 if offences_found else 0


def references(value: object) -> "list[str]":
    """Every `$ref` below."""
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for member in value.values() for found in references(member)]
    if isinstance(value, list):
        return [found for element in value for found in references(element)]
    return []


def leads(document: object, pointer: str) -> bool:
    """Whether a `#/…` reference names something in the document."""
    place = document
    for name in pointer.removeprefix("#/").split("/"):
        if not isinstance(place, dict) or name not in place:
            return False
        place = place[name]
    return True


if __name__ == "__main__":
    sys.exit(main())
