import { HoldfastError, isPlainObject, type Tool } from '@holdfast/core';
import type { Section } from './section.ts';
import { reservedToolNames } from './visibility.ts';

/** Levels of sections; deeper is a mistake in whatever makes them. */
const maxDepth = 64;

/**
 * Every tool of `sections` and of those under them, by name.
 *
 * @throws HoldfastError `section.too_deep`, `section.invalid` for what is no section, `tool.name.duplicate`, `tool.name.reserved`.
 */
export function collectTools(sections: readonly Section[]): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  const owners = new Map<string, string>();
  const visit = (siblings: readonly Section[], parent: string, depth: number): void => {
    if (depth > maxDepth && siblings.length > 0) {
      throw new HoldfastError('section.too_deep', `Sections are nested more than ${maxDepth} levels deep.`);
    }
    for (const section of siblings) {
      checkMade(section, parent);
      const path = `${parent}${section.key}`;
      for (const tool of section.tools) {
        checkName(tool.name, path, owners.get(tool.name));
        owners.set(tool.name, path);
        tools.set(tool.name, tool);
      }
      visit(section.children, `${path}.`, depth + 1);
    }
  };
  visit(sections, '', 1);
  return tools;
}

/** Hosts without types give anything. */
function checkMade(section: unknown, parent: string): void {
  if (isPlainObject(section) && typeof section['template'] === 'string' && Array.isArray(section['children'])) return;
  const where = parent === '' ? 'at the top' : `under \`${parent.slice(0, -1)}\``;
  throw new HoldfastError(
    'section.invalid',
    `There is something ${where} that is no section: make it with \`markdownSection\`.`,
  );
}

function checkName(name: string, path: string, owner: string | undefined): void {
  if (owner !== undefined) {
    throw new HoldfastError(
      'tool.name.duplicate',
      `The tool \`${name}\` is in section \`${owner}\` and in section \`${path}\`: a prompt offers each name once.`,
      { data: { name, sections: [owner, path] } },
    );
  }
  if (reservedToolNames.has(name)) {
    throw new HoldfastError(
      'tool.name.reserved',
      `\`${name}\` in section \`${path}\` is the name of a tool that prompts bring themselves.`,
      { data: { name, section: path } },
    );
  }
}
