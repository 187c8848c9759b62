import { allow, ask, type Decision, definePolicy, deny, type KeyedState, type Policy } from '@holdfast/core';
import { toPrintable } from '@holdfast/core/internal';
import { configured, type DecidingValue, decidingValues, wordsFor } from './deciding.ts';
import { createFingerprint, isShort } from './fingerprint.ts';
import { toForm } from './forms.ts';
import { isKnown } from './known.ts';
import { namedTools, type ProvenanceOptions, trustedOf } from './options.ts';
import { type RequestWords, readRequest } from './request.ts';
import { findSource, isFrom, noteResult, type SeenResult, type Source, seenSchema } from './seen.ts';

const maxReasons = 3;

/**
 * Asks about a value that decides where a call goes, unless it is in the user's words, in a trusted field of a result, or known to the host.
 * Look-alikes and decoded texts are never equal to a trusted value.
 *
 * State: keyed by the number of the result, the fingerprints of its values.
 */
export function values(options: ProvenanceOptions): Policy<KeyedState<SeenResult>> {
  const fingerprint = createFingerprint(options.key);
  const plannedTools = options.planned && new Set(options.planned.plan.nodes.map(({ tool }) => tool));
  return definePolicy<SeenResult>({
    name: 'values',
    mentions: namedTools(options),
    stateKind: 'keyed',
    stateSchema: seenSchema,
    check(call, { state, request }) {
      const deciding = decidingValues(call, options);
      const { name } = call.tool;
      const requested = configured(options, name)?.requested === true;
      if (deciding.length === 0 && !requested) return allow;
      const words = readRequest(request);
      const asked = plannedTools?.has(name) ?? words.callsFor(wordsFor(options, name));
      if (requested && !asked) return answer(options, `The request does not call for \`${name}\`.`);
      const problems = deciding.flatMap((each) => {
        const form = toForm(each.kind, each.value);
        if (form === undefined) return `${describe(each)}, which cannot be read`;
        if (isKnown(form, options.known ?? [])) return [];
        const kept = fingerprint(form);
        if (each.fields !== undefined && isFrom(state, kept, each.fields)) return [];
        return findProblem(each, { form, words, asked, source: findSource(state, kept) }) ?? [];
      });
      if (problems.length === 0) return allow;
      const more = problems.length > maxReasons ? ` And ${problems.length - maxReasons} more.` : '';
      return answer(
        options,
        `\`${call.tool.name}\` goes where nobody asked it to: ${problems.slice(0, maxReasons).join('; ')}.${more}`,
      );
    },
    onResult: (call, result, { state }) =>
      noteResult(call, result, {
        state,
        trusted: trustedOf(options, call.tool.name),
        fingerprint,
      }),
  });
}

/** A grant for the tool would cover every recipient. */
export function answer({ otherwise = 'ask' }: ProvenanceOptions, reason: string): Decision {
  return otherwise === 'deny' ? deny(reason) : ask(reason, { grantable: false });
}

interface Found {
  readonly form: string;
  readonly words: RequestWords;
  /** True if the request calls for the tool. */
  readonly asked: boolean;
  readonly source: Source | undefined;
}

function findProblem(each: DecidingValue, { form, words, asked, source }: Found): string | undefined {
  if (words.has(form) || (source?.trusted === true && each.fields === undefined)) {
    if (!isShort(form) || asked) return undefined;
    return `${describe(each)}, too short to tell where it comes from, and the request does not call for this`;
  }
  if (source === undefined)
    return `${describe(each)}, which neither the request nor a trusted field of a result contains`;
  const field = source.field === '' ? '' : ` (\`${toPrintable(source.field)}\`)`;
  const why = source.trusted ? `not from ${list(each.fields ?? [])}` : 'where outsiders can write';
  return `${describe(each)}, which comes from the result of \`${source.tool}\`${field} in \`${toPrintable(source.call)}\`, ${why}`;
}

/** Names for a message, the first of many. */
export function list(names: readonly string[]): string {
  const shown = names.slice(0, 8).map((name) => `\`${name}\``);
  return names.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}

function describe({ from, value }: DecidingValue): string {
  const text = toPrintable(String(value));
  return `${from.includes(' ') ? from : `\`${from}\``} is \`${text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text}\``;
}
