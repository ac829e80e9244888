# SPDX-License-Identifier: LGPL-3.0-or-later
"""otlp_rules.py - what OpenTelemetry's own checker (profcheck) asks of profiles, as rules over a decoded
message.

Entry 0 of each table is empty, places are in their tables, nothing is there twice, no attribute's key
is twice at one place, nothing is there for nothing, lines are not negative, links have their sizes, each
sample has one value and all have the same shape.
"""

TABLES = ("mapping_table", "location_table", "function_table", "link_table", "string_table",
          "attribute_table", "stack_table")
# message, member, table
PLACES = (("sample", "stack_index", "stack_table"), ("sample", "link_index", "link_table"),
          ("sample", "attribute_indices", "attribute_table"),
          ("profile", "attribute_indices", "attribute_table"),
          ("type", "type_strindex", "string_table"), ("type", "unit_strindex", "string_table"),
          ("mapping_table", "filename_strindex", "string_table"),
          ("mapping_table", "attribute_indices", "attribute_table"),
          ("location_table", "mapping_index", "mapping_table"),
          ("location_table", "attribute_indices", "attribute_table"),
          ("line", "function_index", "function_table"),
          ("function_table", "name_strindex", "string_table"),
          ("function_table", "system_name_strindex", "string_table"),
          ("function_table", "filename_strindex", "string_table"),
          ("attribute_table", "key_strindex", "string_table"),
          ("attribute_table", "unit_strindex", "string_table"),
          ("stack_table", "location_indices", "location_table"))


def key(value):
    if isinstance(value, dict):
        return tuple(sorted((name, tuple(key(one) for one in list_of)) for name, list_of in value.items()))
    return value


def twice(items):
    return len(set(items)) != len(items)


def broken_keys(dictionary, messages):
    """An attribute's key stands once in a profile, a sample, a location, a mapping."""
    attributes = dictionary.get("attribute_table", [])
    keys = [one.get("key_strindex", [0])[0] for one in attributes]
    wrong = []
    for message, member, table in PLACES:
        if table != "attribute_table":
            continue
        for one in messages[message]:
            places = one.get(member, [])
            if all(0 <= place < len(keys) for place in places) and twice([keys[place] for place in places]):
                wrong.append(f"{message}: a key is there twice: {places}")
    return wrong


def broken_numbers(dictionary, messages):
    wrong = [f"a line has {name} {one[name][0]}" for one in messages["line"] for name in ("line", "column")
             if one.get(name, [0])[0] < 0]
    wrong += [f"a function begins at {one['start_line'][0]}" for one in dictionary.get("function_table", [])
              if one.get("start_line", [0])[0] < 0]
    for link in dictionary.get("link_table", [])[1:]:
        if len(link.get("trace_id", [b""])[0]) != 16 or len(link.get("span_id", [b""])[0]) != 8:
            wrong.append(f"a link is {link}")
    return wrong


def broken_rules(data):
    """Sentences, one for each rule that does not hold."""
    wrong = []
    dictionary = data.get("dictionary", [{}])[0]
    for table in TABLES:
        entries = dictionary.get(table, [])
        if not entries:
            wrong.append(f"{table} is empty")
        elif entries[0] not in ({}, b""):
            wrong.append(f"{table}[0] is {entries[0]}")
        if twice([key(entry) for entry in entries]):
            wrong.append(f"{table} has an entry twice")
    for mapping in dictionary.get("mapping_table", [])[1:]:
        if not mapping.get("memory_start", [0])[0] < mapping.get("memory_limit", [0])[0]:
            wrong.append(f"a mapping has no addresses: {mapping}")
    for function in dictionary.get("function_table", [])[1:]:
        if not {"name_strindex", "system_name_strindex", "filename_strindex"} & set(function):
            wrong.append("a function has no name")

    messages = {table: dictionary.get(table, []) for table in TABLES if table != "string_table"}
    messages["line"] = [line for one in messages["location_table"] for line in one.get("lines", [])]
    messages |= {"profile": [], "sample": [], "type": []}
    resources = data.get("resource_profiles", [])
    if not resources:
        wrong.append("there is no resource")
    for resource in resources:
        if not resource.get("scope_profiles"):
            wrong.append("a resource has no scope")
        attributes = [pair["key"][0] for pair in resource["resource"][0].get("attributes", [])]
        if twice(attributes):
            wrong.append(f"a resource has an attribute twice: {attributes}")
        for scope in resource.get("scope_profiles", []):
            if not scope.get("profiles"):
                wrong.append("a scope has no profile")
            messages["profile"] += scope.get("profiles", [])
    for profile in messages["profile"]:
        messages["sample"] += profile.get("samples", [])
        messages["type"] += profile.get("sample_type", []) + profile.get("period_type", [])
        if len(profile.get("sample_type", [])) != 1:
            wrong.append("a profile has not one type")
        identities = [key({name: sample.get(name, []) for name in
                           ("stack_index", "attribute_indices", "link_index")})
                      for sample in profile.get("samples", [])]
        if twice(identities):
            wrong.append("a profile has one stack twice")
    for sample in messages["sample"]:
        if len(sample.get("values", [])) != 1 or "timestamps_unix_nano" in sample:
            wrong.append(f"a sample has not one value: {sample}")

    wrong += broken_keys(dictionary, messages) + broken_numbers(dictionary, messages)
    used = {table: {0} for table in TABLES}
    for message, member, table in PLACES:
        for one in messages[message]:
            used[table].update(one.get(member, []))
    for table in TABLES:
        n = len(dictionary.get(table, []))
        if not all(0 <= place < n for place in used[table]):
            wrong.append(f"a place is not in {table}")
        if unused := set(range(n)) - used[table]:
            wrong.append(f"{table}: nothing refers to {sorted(unused)[:5]}")
    return wrong
