import { isPlainObject } from '@holdfast/core/internal';
import type { StandardSchemaV1 } from '@modelcontextprotocol/client';

/** The longest timer of Node.js, about 24 days. */
export const longestTimeoutMs = 2_147_483_647;

/** Lets any object through unchanged: the schemas of the SDK drop keys that they do not know. */
export const anyObject: StandardSchemaV1<Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'holdfast',
    validate: (value) =>
      isPlainObject(value) ? { value: value as Record<string, unknown> } : { issues: [{ message: 'not an object' }] },
  },
};
