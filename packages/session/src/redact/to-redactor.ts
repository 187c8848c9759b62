import type { JsonObject, Redactor } from '@holdfast/core';
import { checkOptions, copyJson, isToolResult } from '@holdfast/core/internal';
import { marksSecrets, secretsIn } from './marked.ts';
import { maskEvent, maskExport, maskOperation, maskRecord } from './record.ts';

/**
 * Creates a redactor from your own `redact`. It adds the search for secrets marked in schemas, and knows which parts of a record are
 * content. To change a redactor of `createRedactor`, pass functions that call it.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function toRedactor(own: Pick<Redactor, 'redact' | 'learn' | 'digest'>): Redactor {
  checkOptions(
    'toRedactor',
    own,
    { redact: 'function!', learn: 'function!', digest: 'function' },
    { strays: 'misspelled' },
  );
  const redact: Redactor['redact'] = (json) => own.redact(json);
  const learnMarked = (schema: JsonObject | undefined, value: unknown): void => {
    for (const secret of secretsIn(schema, value)) own.learn(secret);
  };
  return Object.freeze<Redactor>({
    redact,
    learn: (secret) => own.learn(secret),
    ...(own.digest && { digest: own.digest.bind(own) }),
    learnArguments: learnMarked,
    learnReturned(schema, returned) {
      if (!marksSecrets(schema)) return;
      try {
        const copied = copyJson(isToolResult(returned) ? returned.value : returned);
        if (copied.ok) learnMarked(schema, copied.value);
      } catch {
        // An unreadable value is in no record either.
      }
    },
    maskRecord: (entry) => maskRecord(entry, redact),
    maskEvent: (event) => maskEvent(event, redact),
    maskOperation: (operation) => maskOperation(operation, redact),
    maskExport: (data) => maskExport(data, redact),
  });
}
