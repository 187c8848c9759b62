import {
  defineSlice,
  HoldfastError,
  type Json,
  type KeyedState,
  remove,
  type SessionEvent,
  type Slice,
  upsert,
} from '@holdfast/core';
import { compileSchema, describeIssues } from '@holdfast/schema';
import * as v from 'valibot';
import type { Visibility } from './section.ts';

/** The tools with which a model opens and reads sections. */
export const reservedToolNames: ReadonlySet<string> = new Set(['open_sections', 'read_section']);

const visibilities = v.picklist(['full', 'summary']);
const keys = v.array(v.string());
const shownSchema = v.object({ prompt: v.string(), keys, visibility: visibilities });
const clearedSchema = v.object({ prompt: v.string(), keys: v.optional(keys) });

/**
 * The visibility set in a session: `full` or `summary`, by `<prompt id>#<section path>`. It overrides the sections' own
 * `visibility`. Events: `sections-shown` `{ prompt, keys, visibility }`; `sections-cleared` `{ prompt, keys? }`, of all sections
 * of the prompt without `keys`. Any other payload is `event.invalid`.
 */
export const visibilitySlice: Slice<KeyedState<Visibility>> = defineSlice<Visibility>({
  id: 'holdfast/visibility',
  kind: 'keyed',
  schema: visibilities,
  reducers: {
    'sections-shown'(_shown, payload) {
      const event = read(shownSchema, { type: 'sections-shown', payload });
      return event.keys.map((key) => upsert(visibilityKey(event.prompt, key), event.visibility));
    },
    'sections-cleared'(shown, payload) {
      const event = read(clearedSchema, { type: 'sections-cleared', payload });
      const paths = event.keys ?? [...readVisibility(shown, event.prompt).keys()];
      return paths.map((path) => remove(visibilityKey(event.prompt, path)));
    },
  },
});

/** The slice's key for a section. Prompt ids contain no `#`. */
function visibilityKey(promptId: string, path: string): string {
  return `${promptId}#${path}`;
}

/** The visibility that a session has set for sections of a prompt, by path. */
export function readVisibility(shown: KeyedState<Visibility>, promptId: string): ReadonlyMap<string, Visibility> {
  const prefix = visibilityKey(promptId, '');
  return new Map(
    [...shown].flatMap(([key, told]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), told]] : [])),
  );
}

/** Creates the event that sets the visibility of sections. */
export function sectionsShown(payload: {
  readonly prompt: string;
  readonly keys: readonly string[];
  readonly visibility: Visibility;
}): SessionEvent {
  return { type: 'sections-shown', payload };
}

function read<Event>(
  schema: Parameters<typeof compileSchema<Event>>[0],
  { type, payload }: { readonly type: string; readonly payload: Json },
): Event {
  const validation = compileSchema(schema).validate(payload);
  if (validation.ok) return validation.value;
  throw new HoldfastError(
    'event.invalid',
    `The payload of \`${type}\` does not fit: ${describeIssues(validation.issues)}.`,
  );
}
