import { type Unclear, understand } from '../read/understand.ts';
import { type Clause, isContent, textOf } from '../words/clauses.ts';
import { type Parameter, typedFilesOf } from '../words/parameters.ts';
import type { ToolWords } from '../words/tool-words.ts';
import { isWriting } from '../words/verbs.ts';
import { splitName } from '../words/words.ts';
import { capitalize, titleOf } from './report.ts';

const maxOffers = 3;

/**
 * Explains why a request is unclear and suggests requests that work with these tools and known files. Each suggestion
 * was checked with `understand`.
 */
export function askBack(unclear: Unclear, tools: readonly ToolWords[], files: readonly string[]): string {
  const offers = findOffers(unclear, tools, files).map((offer) => `\n- ${offer}`);
  return [
    `${unclear.why} Nothing has been done.`,
    ...(tools.length === 0
      ? ['No tools are available.']
      : offers.length === 0
        ? []
        : [`These requests work here:${offers.join('')}`]),
    'I am a rule-based program, not a language model: I act on a request only if I understand every word of it.',
  ].join('\n\n');
}

function findOffers(
  { clauses, near }: Unclear,
  tools: readonly ToolWords[],
  files: readonly string[],
): readonly string[] {
  const content = clauses.flatMap(({ tokens }) => tokens.filter(isContent));
  const known = [...files.filter((file) => content.some(({ value }) => value === file)), ...files];
  const shared = ({ nameStems, isLooking }: ToolWords): number =>
    nameStems.filter((stem) => content.some((token) => token.stem === stem)).length + (isLooking ? 0.5 : 0);
  const ordered = new Set([...near, ...tools.toSorted((one, other) => shared(other) - shared(one))]);
  // Suggests nothing that deletes or leaves the machine: people try suggestions out.
  const harmless = [...ordered].filter(({ isLooking, verbs }) => isLooking || isWriting(verbs.lead));
  // By effect: two wordings of the same call are one suggestion.
  const offers = new Map<string, string>();
  for (const offer of [...sayOtherwise(clauses), ...harmless.flatMap((tool) => sayFor(tool, known))]) {
    const understood = understand(offer, tools);
    if (understood.type === 'unclear') continue;
    const { match, save } = understood;
    const key = JSON.stringify([match.tool.tool.name, match.arguments, save?.path ?? '']);
    if (!offers.has(key)) offers.set(key, offer);
    if (offers.size === maxOffers) break;
  }
  return [...offers.values()];
}

/** Rewordings of the request: each part by itself, a list written to its file, its text in quotation marks. */
function sayOtherwise(clauses: readonly Clause[]): readonly string[] {
  const [clause, another] = clauses;
  if (clause === undefined || another !== undefined) return clauses.map(textOf).map(capitalize);
  const [verb, ...tokens] = clause.tokens;
  const target = tokens.findLastIndex(({ kind }) => kind === 'path');
  const end = tokens.findLastIndex(({ lower }, at) => at < target && !/^(?:to|in|into|as|the|a|file)$/u.test(lower));
  if (verb === undefined || !isWriting(verb.stem) || end < 0) return [];
  const text = textOf({ ...clause, tokens: tokens.slice(0, end + 1) });
  const path = tokens[target]?.text;
  return [
    `List ${titleOf({ ...clause, tokens: [verb, ...tokens.slice(0, end + 1)] })} and write them to ${path}`,
    `Write "${text}" to ${path}`,
  ];
}

/** Nouns that descriptions use for these kinds of values. Other arguments go by their name. */
const nouns: ReadonlyMap<Parameter['kind'], string> = new Map([
  ['path', String.raw`(?:\p{L}+ )?(?:file|table|document)s?`],
  ['text', '(?:text|word)'],
  ['query', '(?:text|word|query)'],
  ['glob', '(?:name )?pattern'],
]);

/** The first clause of the tool's description, with sample values in place of its nouns. */
function sayFor({ tool, parameters, verbs }: ToolWords, files: readonly string[]): readonly string[] {
  const [first = ''] = tool.description.split(/[.:;,(]| such as /u);
  let said = first.trim().replace(/ (?:in|of) (?:one|a) (?:folder|directory)$/u, '');
  const required = parameters.filter(({ isRequired }) => isRequired);
  const places = parameters.filter(({ kind, hasDefault, takes }) => kind === 'path' && !hasDefault && takes.file);
  for (const parameter of required.length > 0 ? required : places) {
    const sample = sampleOf(parameter, isWriting(verbs.lead) ? ['hello.txt'] : files);
    if (sample === undefined) return [];
    const noun = nouns.get(parameter.kind) ?? splitName(parameter.name).join(' ');
    const place = new RegExp(String.raw`\b(?:(?:an?|one|the|some) )?${noun}\b`, 'iu');
    said = place.test(said)
      ? said.replace(place, () => sample)
      : `${said} ${parameter.kind === 'path' ? 'of' : 'with'} ${sample}`;
  }
  return [said];
}

function sampleOf(
  { kind, name, choices, schema, description }: Parameter,
  files: readonly string[],
): string | undefined {
  if (kind === 'text' || kind === 'query') return '"hello"';
  if (kind === 'glob') return 'the pattern *.md';
  const typed = typedFilesOf(description);
  if (kind === 'path')
    return files.find((file) => typed.length === 0 || typed.some((type) => file.endsWith(`.${type}`)));
  const value = kind === 'number' ? (schema['minimum'] ?? 2) : choices[0];
  return value === undefined ? undefined : `the ${splitName(name).join(' ')} ${String(value)}`;
}
