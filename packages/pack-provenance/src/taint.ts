import { allow, definePolicy, type KeyedState, type Operation, type Policy, upsert } from '@holdfast/core';
import { toPrintable } from '@holdfast/core/internal';
import * as v from 'valibot';
import { decidingValues } from './deciding.ts';
import { namedTools, type ProvenanceOptions, trustedOf } from './options.ts';
import { readLeaves } from './results.ts';
import { answer } from './values.ts';

/** The call that brought it. */
interface Brought {
  readonly call: string;
  readonly tool: string;
}

/**
 * Asks about every call that sends, once the session has read a text that outsiders can write, and a secret.
 *
 * State: keyed, the first call that brought either; `failed`, one whose error text nobody has judged.
 */
export function taint(options: ProvenanceOptions): Policy<KeyedState<Brought>> {
  const { secrets } = options;
  return definePolicy<Brought>({
    name: 'taint',
    mentions: namedTools(options),
    stateKind: 'keyed',
    stateSchema: v.object({ call: v.string(), tool: v.string() }),
    check(call, { state }) {
      const foreign = state.get('untrusted') ?? state.get('failed');
      const secret = state.get('secret');
      if (foreign === undefined || secret === undefined || decidingValues(call, options).length === 0) return allow;
      return answer(
        options,
        `\`${call.tool.name}\` sends, after ${describe(foreign)} brought text that outsiders can write, and ${describe(secret)} a secret.`,
      );
    },
    onResult(call, result, { state }): readonly Operation[] {
      const { name } = call.tool;
      const brought: Brought = { call: call.id, tool: name };
      const isSecret = secrets === undefined || secrets.includes(name);
      const leaves =
        state.has('untrusted') && (state.has('secret') || !isSecret)
          ? []
          : readLeaves(call, result, trustedOf(options, name));
      return [
        ...(!state.has('untrusted') && leaves.some((leaf) => !leaf.trusted && isText(leaf.value))
          ? [upsert('untrusted', brought)]
          : []),
        ...(!state.has('secret') && isSecret && leaves.length > 0 ? [upsert('secret', brought)] : []),
      ];
    },
    countsFailures: true,
    // The text of an error is untrusted, too, and never seen here.
    reserve: ({ id, tool }, { state }) => (state.has('failed') ? [] : upsert('failed', { call: id, tool: tool.name })),
  });
}

function isText(value: string | number): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function describe({ call, tool }: Brought): string {
  return `\`${tool}\` in \`${toPrintable(call)}\``;
}
