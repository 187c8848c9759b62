import { isPlainObject } from './json.ts';

/** Freezes the output of a schema; true if all of it is JSON. Other values stay as they are. */
export function freezeInput(value: unknown): boolean {
  const room = { left: 2_000 };
  const json = freezeQuickly(value, 24, room);
  return room.left > 0 ? json : freezeCarefully(value, undefined);
}

/** Skips frozen values. Large, deep or circular input exhausts `room`, and the result is then unknown. */
function freezeQuickly(value: unknown, depth: number, room: { left: number }): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || value === undefined) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  room.left -= depth === 0 ? room.left : 1;
  if (room.left <= 0) return false;
  const list = Array.isArray(value);
  if (!list && !isPlainObject(value)) return false;
  let json = true;
  if (list) {
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (typeof item !== 'string' && !freezeQuickly(item, depth - 1, room)) json = false;
    }
  } else {
    for (const key in value) {
      const inner = value[key];
      if (typeof inner !== 'string' && Object.hasOwn(value, key) && !freezeQuickly(inner, depth - 1, room))
        json = false;
    }
  }
  Object.freeze(value);
  return json;
}

function freezeCarefully(value: unknown, met: Set<object> | undefined): boolean {
  if (typeof value !== 'object' || value === null) return freezeQuickly(value, 1, { left: 1 });
  if (!Array.isArray(value) && !isPlainObject(value)) return false;
  // Already frozen: by the schema, or through a cycle.
  const frozen = Object.isFrozen(value);
  if (frozen && met?.has(value) === true) return false;
  const path = frozen ? (met ?? new Set<object>()).add(value) : met;
  if (!frozen) Object.freeze(value);
  let json = true;
  for (const inner of Object.values(value)) if (!freezeCarefully(inner, path)) json = false;
  return json;
}
