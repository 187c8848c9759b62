import { allow, ask, type Decision, definePolicy, deny, type KeyedState, type Policy } from '@holdfast/core';
import { toPrintable } from '@holdfast/core/internal';
import { configured, type DecidingValue, decidingValues } from './deciding.ts';
import { createFingerprint, isShort } from './fingerprint.ts';
import { toForm } from './forms.ts';
import { isKnown } from './known.ts';
import { namedTools, type ProvenanceOptions, trustedOf } from './options.ts';
import { type RequestWords, readRequest } from './request.ts';
import { findSource, noteResult, type SeenResult, type Source, seenSchema } from './seen.ts';

const maxReasons = 3;

/**
 * Asks about a value that decides where a call goes, unless it is in the user's words, in a trusted field of a result, or known to the host.
 * Look-alikes and decoded texts are never equal to a trusted value.
 *
 * State: keyed by the number of the result, the fingerprints of its values.
 */
export function values(options: ProvenanceOptions): Policy<KeyedState<SeenResult>> {
  const fingerprint = createFingerprint(options.key);
  return definePolicy<SeenResult>({
    name: 'values',
    mentions: namedTools(options),
    stateKind: 'keyed',
    stateSchema: seenSchema,
    check(call, { state, request }) {
      const deciding = decidingValues(call, options);
      if (deciding.length === 0) return allow;
      const words = readRequest(request);
      const { name } = call.tool;
      const asked = options.planned?.includes(name) ?? words.callsFor(configured(options, name)?.words ?? []);
      const problems = deciding.flatMap((each) => {
        const form = toForm(each.kind, each.value);
        if (form === undefined) return `${describe(each)}, which cannot be read`;
        if (isKnown(form, options.known ?? [])) return [];
        return findProblem(each, { form, words, asked, source: findSource(state, fingerprint(form)) }) ?? [];
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
  if (words.has(form) || source?.trusted === true) {
    if (!isShort(form) || asked) return undefined;
    return `${describe(each)}, too short to tell where it comes from, and the request does not call for this`;
  }
  if (source === undefined)
    return `${describe(each)}, which neither the request nor a trusted field of a result contains`;
  const field = source.field === '' ? '' : ` (\`${toPrintable(source.field)}\`)`;
  return `${describe(each)}, which comes from the result of \`${source.tool}\`${field} in \`${toPrintable(source.call)}\`, where outsiders can write`;
}

function describe({ from, value }: DecidingValue): string {
  const text = toPrintable(String(value));
  return `${from.includes(' ') ? from : `\`${from}\``} is \`${text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text}\``;
}
