#pragma once
#include <string.h>
#include <yaml.h>

/* yaml_event_t keeps its data in an anonymous union of anonymous structs, which Swift cannot name. */

static inline const yaml_char_t *askgate_yaml_scalar_value(const yaml_event_t *event) {
    return event->data.scalar.value;
}

static inline size_t askgate_yaml_scalar_length(const yaml_event_t *event) {
    return event->data.scalar.length;
}

static inline int askgate_yaml_scalar_is_plain(const yaml_event_t *event) {
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* The anchor of a node event or the name of an alias event; NULL when there is none. */
static inline const char *askgate_yaml_anchor(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_ALIAS_EVENT: return (const char *)event->data.alias.anchor;
    case YAML_SCALAR_EVENT: return (const char *)event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT: return (const char *)event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT: return (const char *)event->data.mapping_start.anchor;
    default: return NULL;
    }
}

/* Whether a node carries a tag that the file spells out. */
static inline int askgate_yaml_has_tag(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT: return event->data.scalar.tag != NULL;
    case YAML_SEQUENCE_START_EVENT: return event->data.sequence_start.tag != NULL;
    case YAML_MAPPING_START_EVENT: return event->data.mapping_start.tag != NULL;
    default: return 0;
    }
}

/* Whether the document begins with %YAML or %TAG lines. */
static inline int askgate_yaml_has_directives(const yaml_event_t *event) {
    return event->data.document_start.version_directive != NULL
        || event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end;
}
