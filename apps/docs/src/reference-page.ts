import { join } from 'node:path';
import { type Declaration, readExports } from './declarations.ts';
import type { Library } from './libraries.ts';

/** Longer lists are grouped by declaring file. */
const longest = 24;

/** The reference page of a package: a table of contents, then every export with signature and documentation. */
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
  /** The level of its members' headings. */
  readonly level: number;
  readonly members: readonly Declaration[];
}

function toKinds(declarations: readonly Declaration[]): readonly Group[] {
  return [
    { heading: '**Functions and values**', level: 3, members: declarations.filter(({ isType }) => !isType) },
    { heading: '**Types**', level: 3, members: declarations.filter(({ isType }) => isType) },
  ].filter(({ members }) => members.length > 0);
}

/** Groups exports by file, since a file is one idea; the outline of the page lists the files. */
function toFiles(declarations: readonly Declaration[]): readonly Group[] {
  const files = [...Map.groupBy(declarations, ({ file }) => file)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return files.map(([file, members]) => ({ heading: `### ${file}.ts`, level: 4, members }));
}

/** The anchors of the site, in heading order: names that differ only by case get a number. */
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

/** Links to every export, by kind and name. */
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

/** Escapes text outside of backticks for Markdown and Vue. */
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
