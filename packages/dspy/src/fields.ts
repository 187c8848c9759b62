import type { JsonObject } from '@holdfast/core';
import type { Signature } from '@holdfast/modules';
import { type DspyFindings, quote, quoteAll } from './findings.ts';
import type { DspyFieldState } from './state.ts';

/** A field of a DSPy predictor for one of our signatures. */
export interface DspyField {
  readonly name: string;
  readonly side: 'inputs' | 'outputs';
  /** The JSON Schema of a value in a demo. */
  readonly schema: JsonObject;
  /** The description in the signature, or `''`. */
  readonly description: string;
}

/** `react` and `extract` are the two steps of a ReAct. */
export type DspyPredictorKind = 'predict' | 'chain_of_thought' | 'react' | 'extract';

/**
 * The fields of a predictor, in the order of a state: inputs first.
 *
 * Sources: DSPy `dspy/signatures/signature.py` (`fields`), `dspy/predict/chain_of_thought.py` (`reasoning` comes before the outputs),
 * `dspy/predict/react.py` (`trajectory` after the inputs; the outputs of a step; a chain of thought extracts the answer).
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

/** The texts of a state's fields. */
export interface DspyFieldTexts {
  readonly descriptions: Readonly<Record<string, string>>;
  /** Only prefixes that DSPy does not derive from the name. */
  readonly prefixes: Readonly<Record<string, string>>;
}

/**
 * Compares the fields of a state with the expected ones by position, which is how DSPy assigns them. States contain no names, so fields are
 * identified by their descriptions (`${name}` by default) and prefixes (derived from the name by default).
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
    const message = `The file has ${states.length} fields (${prefixesOf}); the signature has ${fields.length} (${namesOf}).`;
    findings.refuse('fields_mismatch', path, message);
    return { descriptions: {}, prefixes: {} };
  }
  const descriptions: [string, string][] = [];
  const prefixes: [string, string][] = [];
  for (const [index, state] of states.entries()) {
    const field = fields[index];
    if (field === undefined) continue;
    const place = `${path}[${index}]`;
    const judged = judgeField(state, field, fields);
    if (judged === 'other') findings.refuse('field_other', place, describeOther(state, field, { prefixesOf, namesOf }));
    if (judged === 'custom') {
      const message = `The prefix ${quote(state.prefix)} of ${quote(field.name)} has no effect, because fields are identified by name. It is kept for export.`;
      findings.warn('prefix_custom', place, message);
    }
    const described = state.description.trim();
    if (described !== '' && described !== placeholder(field.name) && described !== field.description)
      descriptions.push([field.name, described]);
    if (state.prefix !== inferDspyPrefix(field.name)) prefixes.push([field.name, state.prefix]);
  }
  return { descriptions: Object.fromEntries(descriptions), prefixes: Object.fromEntries(prefixes) };
}

/** The default description in DSPy. Source: `dspy/signatures/signature.py`. */
export function placeholder(name: string): string {
  return `\${${name}}`;
}

/** `same`: the expected field. `other`: a different field. `custom`: possibly the expected field, with a custom prefix. */
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
  // An optimizer of prefixes may write `Final Answer:` for `answer`; DSPy derives `Reply:` from another name.
  return madeOfName.test(prefix) && !label.includes(squeeze(name)) ? 'other' : 'custom';
}

/** `Reasoning: Let's think step by step in order to` is the prefix of `reasoning`. */
export function labelOf(prefix: string): string {
  const colon = prefix.indexOf(':');
  return colon === -1 ? prefix : prefix.slice(0, colon);
}

/** The common form of a name and the prefix derived from it. */
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
    `Expected ${quote(name)} of the signature, but the field has the prefix ${quote(prefix)}${described}. The file has ` +
    `${prefixesOf}; the signature has ${namesOf}. Use a signature with the same fields in the same order.`
  );
}

/**
 * The prefix that DSPy derives from a name: words in title case (including those of camelCase, and numbers), acronyms unchanged.
 *
 * Source: DSPy `dspy/signatures/signature.py`, `infer_prefix`.
 */
export function inferDspyPrefix(name: string): string {
  const words = name.replaceAll(wordStart, '_').split('_');
  return `${words.map(toTitle).join(' ')}:`;
}

/** The boundaries between the words of `parseHTMLPage2`: parse, HTML, Page and 2. */
const wordStart = /(?<=.)(?=[A-Z][a-z])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])/g;

function toTitle(word: string): string {
  return word === word.toUpperCase() ? word : word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();
}
