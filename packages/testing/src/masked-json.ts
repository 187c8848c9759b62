import { hasMask, isPlainObject, type Json, type JsonObject } from '@holdfast/core';

/** An object of which nothing is known: `look` is told of whatever is asked of it. */
export function unknownObject<Known extends object>(known: Known, look: (key: PropertyKey) => void): Known {
  return new Proxy(known, {
    get(target, key) {
      look(key);
      const value: unknown = Reflect.get(target, key);
      // Methods of a collection know their own object only.
      return typeof value === 'function' ? value.bind(target) : value;
    },
    has(target, key) {
      look(key);
      return Reflect.has(target, key);
    },
    getOwnPropertyDescriptor(target, key) {
      look(key);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    ownKeys(target) {
      look('');
      return Reflect.ownKeys(target);
    },
  });
}

/** `json` as it is; `look` is told when something in it is read that has a mask. */
export function maskedJson(json: Json, look: () => void): Json {
  if (typeof json !== 'object' || json === null || !hasMask(json)) return json;
  // Of an object with a masked key not even the keys are known.
  if (isPlainObject(json) && Object.keys(json).some(hasMask)) return unknownObject(json as JsonObject, look);
  const shown: Json[] | Record<string, Json> = Array.isArray(json) ? [] : {};
  for (const [key, inner] of Object.entries(json) as readonly [string, Json][]) {
    const value = maskedJson(inner, look);
    const get = (): Json => {
      if (typeof inner === 'string' && hasMask(inner)) look();
      return value;
    };
    Object.defineProperty(shown, key, { enumerable: true, get });
  }
  return Object.freeze(shown);
}
