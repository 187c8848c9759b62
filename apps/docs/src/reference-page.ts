import { join } from 'node:path';
import { type Declaration, readExports } from './declarations.ts';
import type { Library } from './libraries.ts';

/** A list that is longer is divided by the files that declare it. */
const longest = 24;

/** The reference page of a package: every export with its signature and what its docstring says, below a table of contents. */
export function renderReference({ name, description, entries }: Library, folder: string): string {
  const title = [`# ${name}`, escapeText(`${description}.`.replace(/\.\.$/, '.'))];
  const taken = new Map<string, number>();
  const sections = entries.flatMap(({ specifier, source }) => {
    const declarations = readExports(join(folder, source)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const groups = declarations.length > longest ? toFiles(declarations) : toKinds(declarations);
    const anchors = toAnchors(
      groups.flatMap(({ members }) => members),
      taken,
    );
    return [
      `## ${specifier}`,
      ...listContents(declarations, anchors),
      ...groups.flatMap(({ heading, level, members }) => [
        heading,
        ...members.map((member) => renderDeclaration(member, level)),
      ]),
    ];
  });
  return `${[...title, ...sections].join('\n\n')}\n`;
}

interface Group {
  readonly heading: string;
  /** Of the headings of its members. */
  readonly level: number;
  readonly members: readonly Declaration[];
}

function toKinds(declarations: readonly Declaration[]): readonly Group[] {
  return [
    { heading: '**Functions and values**', level: 3, members: declarations.filter(({ isType }) => !isType) },
    { heading: '**Types**', level: 3, members: declarations.filter(({ isType }) => isType) },
  ].filter(({ members }) => members.length > 0);
}

/** A file is one idea, so what belongs together stands together; the page's outline has the files. */
function toFiles(declarations: readonly Declaration[]): readonly Group[] {
  const files = [...Map.groupBy(declarations, ({ file }) => file)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return files.map(([file, members]) => ({ heading: `### ${file}.ts`, level: 4, members }));
}

/** As the site makes them of headings in their order: of names that differ only by case, the later ones have a number. */
function toAnchors(ordered: readonly Declaration[], taken: Map<string, number>): ReadonlyMap<Declaration, string> {
  return new Map(
    ordered.map((declaration) => {
      const slug = declaration.name.toLowerCase();
      const before = taken.get(slug) ?? 0;
      taken.set(slug, before + 1);
      return [declaration, before === 0 ? slug : `${slug}-${before}`];
    }),
  );
}

/** Links to everything, by kind and by name. */
function listContents(
  declarations: readonly Declaration[],
  anchors: ReadonlyMap<Declaration, string>,
): readonly string[] {
  return toKinds(declarations).map(({ heading, members }) => {
    const links = members.map((member) => `[\`${member.name}\`](#${anchors.get(member) ?? ''})`);
    return `${heading}: ${links.join(' · ')}`;
  });
}

function renderDeclaration({ name, documentation, signature }: Declaration, level: number): string {
  const blocks = [`${'#'.repeat(level)} ${name}`, escapeText(documentation), `\`\`\`ts\n${signature}\n\`\`\``];
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Text that Markdown and Vue leave as it is; what stands in backticks is left alone by both. */
export function escapeText(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;').replaceAll('@throws', 'Throws'),
    )
    .join('');
}
