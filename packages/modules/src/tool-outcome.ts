import { type Outcome, toPrintable } from '@holdfast/core';
import { type ModuleError, type ModuleErrorCode, moduleError } from './module-error.ts';

/** How a call that did not succeed is told: the sentence is what a predictor reads. Give only one that is not `ok`. */
export function toToolError(outcome: Outcome): ModuleError {
  const { code, message } = describe(outcome);
  return moduleError(code, message, {
    data: {
      tool: showName(outcome.name),
      outcome: outcome.kind,
      code: outcome.code ?? null,
      // A no stays one, and what may have happened must not be done again without a look.
      ...(code === 'modules.execution_failed' ? { recoverable: mayGoWell.has(outcome.kind) } : {}),
    },
  });
}

/** What a predictor is told of a call that ended. */
export function tellOutcome(outcome: Outcome): string {
  return outcome.kind === 'ok' ? outcome.text : toToolError(outcome).message;
}

/** At most `maxCharacters` of `text`, and then that it was cut. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const shown = text.slice(0, maxCharacters).replace(halfPair, '');
  return `${shown} [cut: ${shown.length} of ${text.length} characters are shown]`;
}

/** A name that a model wrote, in a message. */
export function showName(name: string): string {
  return toPrintable(cutText(name, maxNameCharacters));
}

const maxNameCharacters = 100;
const halfPair = /\p{Cs}$/u;

const mayGoWell: ReadonlySet<Outcome['kind']> = new Set(['failed', 'timed-out']);

/** What the call path says of a result that is no JSON. Also where the call is in doubt for it. */
const unserializable: ReadonlySet<string | undefined> = new Set([
  'output.undefined',
  'output.not_json',
  'output.unreadable',
]);

function describe({ kind, code, name, text }: Outcome): { readonly code: ModuleErrorCode; readonly message: string } {
  if (kind === 'unknown-tool') return { code: 'modules.tool_not_found', message: `Tool not found: ${showName(name)}` };
  if (unserializable.has(code)) return { code: 'modules.serialization', message: `Serialization error: ${text}` };
  if (kind === 'invalid' && code?.startsWith('output.') !== true)
    return { code: 'modules.invalid_arguments', message: `Invalid arguments: ${text.replace(ownPrefix, '')}` };
  return { code: 'modules.execution_failed', message: `Execution failed: ${text}` };
}

/** With which the call path begins, too. */
const ownPrefix = /^Invalid arguments for `[^`]{1,64}`: /;
