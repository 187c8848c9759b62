import type { JsonObject } from '@holdfast/core';
import type { Signature } from '@holdfast/modules';
import { type DspyFindings, quote, quoteAll } from './findings.ts';
import type { DspyFieldState } from './state.ts';

/** A field that a predictor of DSPy has for a signature of ours. */
export interface DspyField {
  readonly name: string;
  readonly side: 'inputs' | 'outputs';
  /** JSON Schema of a value in a demo. */
  readonly schema: JsonObject;
  /** What the signature says of it, or `''`. */
  readonly description: string;
}

/** `react` and `extract` are the two steps of a ReAct. */
export type DspyPredictorKind = 'predict' | 'chain_of_thought' | 'react' | 'extract';

/**
 * The fields of a predictor, in the order in which a state has them: inputs first.
 *
 * Sources: DSPy `dspy/signatures/signature.py` (`fields`), `dspy/predict/chain_of_thought.py` (`reasoning` is put before the outputs),
 * `dspy/predict/react.py` (`trajectory` after the inputs; the outputs of a step; a chain of thought takes the answer from it).
 */
export function listDspyFields(kind: DspyPredictorKind, signature: Signature): readonly DspyField[] {
  const own = (side: DspyField['side']): DspyField[] =>
    signature[side].map(({ name, schema, description }) => ({ name, side, schema, description }));
  const reasoning = kind !== 'predict' && !signature.outputs.some(({ name }) => name === 'reasoning');
  const thought = reasoning ? [text('reasoning', 'outputs')] : [];
  switch (kind) {
    case 'predict':
    case 'chain_of_thought':
      return [...own('inputs'), ...thought, ...own('outputs')];
    case 'react':
      return [
        ...own('inputs'),
        text('trajectory', 'inputs'),
        text('next_thought', 'outputs'),
        text('next_tool_name', 'outputs'),
        {
          name: 'next_tool_args',
          side: 'outputs',
          schema: { type: 'object', additionalProperties: true },
          description: '',
        },
      ];
    case 'extract':
      return [...own('inputs'), text('trajectory', 'inputs'), ...thought, ...own('outputs')];
    default:
      return kind satisfies never;
  }
}

function text(name: string, side: DspyField['side']): DspyField {
  return { name, side, schema: { type: 'string' }, description: '' };
}

/** What a state says of the fields that goes beyond their names. */
export interface DspyFieldTexts {
  readonly descriptions: Readonly<Record<string, string>>;
  /** That are not what DSPy makes of the name. */
  readonly prefixes: Readonly<Record<string, string>>;
}

/**
 * Compares the fields of a state with those that are expected, place by place, as DSPy assigns them. It names no fields there; whether they
 * are the same is told by their descriptions (`${name}` where nobody wrote one) and prefixes (made of the name where nobody wrote one).
 *
 * Source: DSPy `dspy/signatures/signature.py`, `load_state` and `infer_prefix`.
 */
export function compareDspyFields(
  states: readonly DspyFieldState[],
  fields: readonly DspyField[],
  { path, findings }: { readonly path: string; readonly findings: DspyFindings },
): DspyFieldTexts {
  const prefixesOf = quoteAll(states.map(({ prefix }) => prefix));
  const namesOf = quoteAll(fields.map(({ name }) => name));
  if (states.length !== fields.length) {
    const message = `The file has ${states.length} fields (${prefixesOf}), the signature has ${fields.length} (${namesOf}).`;
    findings.refuse('dspy.fields_mismatch', path, message);
    return { descriptions: {}, prefixes: {} };
  }
  const descriptions: [string, string][] = [];
  const prefixes: [string, string][] = [];
  for (const [index, state] of states.entries()) {
    const field = fields[index];
    if (field === undefined) continue;
    const place = `${path}[${index}]`;
    const judged = judgeField(state, field, fields);
    if (judged === 'other')
      findings.refuse('dspy.field_other', place, describeOther(state, field, { prefixesOf, namesOf }));
    if (judged === 'custom') {
      const message = `The prefix ${quote(state.prefix)} of ${quote(field.name)} has no effect: fields go by their names. It is kept for an export.`;
      findings.warn('dspy.prefix_custom', place, message);
    }
    const described = state.description.trim();
    if (described !== '' && described !== placeholder(field.name) && described !== field.description)
      descriptions.push([field.name, described]);
    if (state.prefix !== inferDspyPrefix(field.name)) prefixes.push([field.name, state.prefix]);
  }
  return { descriptions: Object.fromEntries(descriptions), prefixes: Object.fromEntries(prefixes) };
}

/** What DSPy has for a description where nobody wrote one. Source: `dspy/signatures/signature.py`. */
export function placeholder(name: string): string {
  return `\${${name}}`;
}

/** `same`: the field of that name. `other`: another one. `custom`: it may be that field; somebody wrote the prefix. */
function judgeField(
  { prefix, description }: DspyFieldState,
  { name }: DspyField,
  fields: readonly DspyField[],
): 'same' | 'other' | 'custom' {
  const label = squeeze(labelOf(prefix));
  if (label === squeeze(name))
    return isPlaceholder(description) && description.trim() !== placeholder(name) ? 'other' : 'same';
  if (fields.some((field) => squeeze(field.name) === label)) return 'other';
  if (isPlaceholder(description)) return description.trim() === placeholder(name) ? 'custom' : 'other';
  // An optimiser of prefixes writes `Final Answer:` for `answer`; `Reply:` is what DSPy makes of another name.
  return madeOfName.test(prefix) && !label.includes(squeeze(name)) ? 'other' : 'custom';
}

/** `Reasoning: Let's think step by step in order to` is the prefix of `reasoning`. */
export function labelOf(prefix: string): string {
  const colon = prefix.indexOf(':');
  return colon === -1 ? prefix : prefix.slice(0, colon);
}

/** What a name and the prefix that is made of it have in common. */
export function squeeze(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

const madeOfName = /^[\p{Lu}\p{N}][\p{L}\p{N}]*(?: [\p{Lu}\p{N}][\p{L}\p{N}]*)*:$/u;

function isPlaceholder(description: string): boolean {
  return /^\s*\$\{[^{}]*\}\s*$/.test(description);
}

function describeOther(
  { prefix, description }: DspyFieldState,
  { name }: DspyField,
  { prefixesOf, namesOf }: { readonly prefixesOf: string; readonly namesOf: string },
): string {
  const described = isPlaceholder(description) ? ` (${quote(description)})` : '';
  return (
    `Stands where the signature has ${quote(name)}, and is another field by its prefix ${quote(prefix)}${described}. The file has ` +
    `${prefixesOf}, the signature ${namesOf}. Give the signature the same fields in the same order.`
  );
}

/**
 * The prefix that DSPy gives a field for its name: words in title case (also those of camelCase, and numbers), capitals as they are.
 *
 * Source: DSPy `dspy/signatures/signature.py`, `infer_prefix`.
 */
export function inferDspyPrefix(name: string): string {
  const words = name.replaceAll(wordStart, '_').split('_');
  return `${words.map(toTitle).join(' ')}:`;
}

/** Between the words of `parseHTMLPage2`, which are parse, HTML, Page and 2. */
const wordStart = /(?<=.)(?=[A-Z][a-z])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])/g;

function toTitle(word: string): string {
  return word === word.toUpperCase() ? word : word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();
}
