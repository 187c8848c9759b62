import type { CallFacts, Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { RecordedFacts } from '@holdfast/core/types';

const maxItems = 50;
const maxText = 500;

/** Facts as recorded: at most 50 items of a list and 500 characters of a text. */
export function toRecordedFacts(facts: CallFacts): RecordedFacts {
  let cut = false;
  const bound = (json: Json): Json => {
    if (typeof json === 'string') {
      if (json.length <= maxText) return json;
      cut = true;
      return `${json.slice(0, maxText)}…`;
    }
    if (Array.isArray(json)) {
      cut ||= json.length > maxItems;
      return Object.freeze(json.slice(0, maxItems).map(bound));
    }
    if (!isPlainObject(json)) return json;
    return Object.freeze(
      Object.fromEntries(Object.entries(json).map(([field, value]) => [field, bound(value as Json)])),
    );
  };
  // JSON by construction; TypeScript cannot see that of an interface.
  const bounded = bound(facts as unknown as Json) as unknown as CallFacts;
  return cut ? Object.freeze({ ...bounded, cut }) : bounded;
}
