import { join } from 'node:path';
import { type Declaration, readExports } from './declarations.ts';
import type { Library } from './libraries.ts';

/** The reference page of a package: every export with its signature and what its docstring says. */
export function renderReference({ name, description, entries }: Library, folder: string): string {
  const sections = entries.map(({ specifier, source }) => {
    const declarations = readExports(join(folder, source)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const groups = [
      { title: 'Functions and values', members: declarations.filter(({ isType }) => !isType) },
      { title: 'Types', members: declarations.filter(({ isType }) => isType) },
    ].filter(({ members }) => members.length > 0);
    return [
      `## ${specifier}`,
      ...groups.flatMap(({ title, members }) => [
        `**${title}**`,
        ...members.map((member) => renderDeclaration(member)),
      ]),
    ].join('\n\n');
  });
  return `${[`# ${name}`, escapeText(`${description}.`.replace(/\.\.$/, '.')), ...sections].join('\n\n')}\n`;
}

function renderDeclaration({ name, documentation, signature }: Declaration): string {
  const blocks = [`### ${name}`, escapeText(documentation), `\`\`\`ts\n${signature}\n\`\`\``];
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
