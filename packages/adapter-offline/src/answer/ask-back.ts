import { type Unclear, understand } from '../read/understand.ts';
import { type Clause, isContent, textOf } from '../words/clauses.ts';
import { type Parameter, typedFilesOf } from '../words/parameters.ts';
import type { ToolWords } from '../words/tool-words.ts';
import { isWriting } from '../words/verbs.ts';
import { splitName } from '../words/words.ts';
import { capitalize, titleOf } from './report.ts';

const maxOffers = 3;

/**
 * The answer to a request that is not clear: why, and requests that work with these tools and with the files that are known to be here.
 * Each has been understood before it is offered.
 */
export function askBack(unclear: Unclear, tools: readonly ToolWords[], files: readonly string[]): string {
  const offers = findOffers(unclear, tools, files).map((offer) => `\n- ${offer}`);
  return [
    `${unclear.why} Nothing has been done.`,
    ...(tools.length === 0
      ? ['No tools are offered to me.']
      : offers.length === 0
        ? []
        : [`These requests work here:${offers.join('')}`]),
    'I am a set of rules, not a language model: I act on a request only when I understand every word of it.',
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
  // Nothing is offered that deletes or reaches out: nobody should do that by trying.
  const harmless = [...ordered].filter(({ isLooking, verbs }) => isLooking || isWriting(verbs.lead));
  // By what they come to: two ways to say the same are one offer.
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

/** The request said otherwise: its parts one by one, a list that is written to its file, its text in quotation marks. */
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

/** What descriptions call the values that a sample stands for. Any other argument they call by its name. */
const nouns: ReadonlyMap<Parameter['kind'], string> = new Map([
  ['path', String.raw`(?:\p{L}+ )?(?:file|table|document)s?`],
  ['text', '(?:text|word)'],
  ['query', '(?:text|word|query)'],
  ['glob', '(?:name )?pattern'],
]);

/** What a tool's description says that it does, with values in place of what it says it does it to. */
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
