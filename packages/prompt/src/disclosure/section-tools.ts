import {
  defineTool,
  HoldfastError,
  isHoldfastError,
  type RenderedPrompt,
  type SectionOpening,
  type SessionReader,
  type Tool,
  type ToolSession,
  toolOk,
} from '@holdfast/core';
import { readExpansion } from '@holdfast/core/internal';
import * as v from 'valibot';
import type { BoundSections, ShownSection } from '../render/bound.ts';
import { fullText, openNodes } from '../render/render.ts';
import { type SectionNode, type SectionTool, toSectionTool } from '../section/node.ts';
import type { SectionTree } from '../section/tree.ts';
import { sectionsShown } from '../section/visibility.ts';

/** What opens and reads the summarised sections of a prompt. */
export interface SectionTools {
  /** `open_sections` while a summary has tools under it, `read_section` while one has none. */
  neededBy(shown: readonly ShownSection[]): readonly SectionTool[];
  /**
   * Opens sections for good and says so.
   *
   * @throws HoldfastError `section.unknown`, `section.hidden`, `section.open`, and as `render` for what would be shown then.
   */
  expand(keys: readonly string[], session: Pick<ToolSession, 'read' | 'dispatch'>): string;
  /** As `Prompt.opening`. `render` gives what the prompt shows by now. */
  opening(thrown: unknown, render: (session: SessionReader) => RenderedPrompt): SectionOpening | undefined;
}

interface Disclosed {
  readonly promptId: string;
  readonly tree: SectionTree;
  readonly sections: BoundSections;
}

/** Makes the two tools for a prompt whose parameters are bound. */
export function createSectionTools(disclosed: Disclosed): SectionTools {
  const expand: SectionTools['expand'] = (keys, session) => {
    const opened = findClosed(keys, { ...disclosed, session }).map(({ path }) => path);
    checkTexts(new Set(opened), { ...disclosed, session });
    session.dispatch(sectionsShown({ prompt: disclosed.promptId, keys: opened, visibility: 'full' }));
    return `Opened ${opened.map(quote).join(', ')}: the instructions and tools there are yours from now on.`;
  };
  let own: { readonly open: SectionTool; readonly read: SectionTool } | undefined;
  return {
    neededBy(shown) {
      const closed = shown.filter(({ visibility }) => visibility === 'summary');
      if (closed.length === 0) return [];
      own ??= { open: toSectionTool(toOpenTool(expand)), read: toSectionTool(toReadTool(disclosed)) };
      return [
        ...(closed.some(({ node }) => node.hasTools) ? [own.open] : []),
        ...(closed.some(({ node }) => !node.hasTools) ? [own.read] : []),
      ];
    },
    expand,
    opening(thrown, render) {
      const expansion = readExpansion(thrown);
      if (expansion === undefined) return undefined;
      return ({ toolName, session, shown }) => {
        try {
          return expand(expansion.keys, session);
        } catch (problem) {
          // Opened by a call before this one: the tool saw the prompt as it was before that, and was right to ask.
          if (!isHoldfastError(problem) || problem.code !== 'section.open') throw problem;
          if (shown === undefined || render(session).text === shown.text) throw problem;
          return `What \`${toolName}\` needs has been opened in the meantime: call it again.`;
        }
      };
    },
  };
}

const openInput = v.object({
  section_keys: v.pipe(
    v.array(v.string()),
    v.minLength(1),
    v.description('Keys of the sections, as in their headings'),
  ),
  reason: v.pipe(v.string(), v.description('What they are needed for')),
});

function toOpenTool(expand: SectionTools['expand']): Tool {
  return defineTool({
    name: 'open_sections',
    description: 'Open summarised sections of the instructions for good, with their tools.',
    inputSchema: openInput,
    effects: 'state',
    acceptsOverrides: false,
    execute: ({ section_keys: keys }, { session }) => toolOk(null, expand(keys, session)),
  });
}

const readInput = v.object({
  section_key: v.pipe(v.string(), v.description('Key of the section, as in its heading')),
});

function toReadTool(disclosed: Disclosed): Tool {
  const { sections } = disclosed;
  return defineTool({
    name: 'read_section',
    description: 'Read a summarised section of the instructions, with all sections under it. It stays summarised.',
    inputSchema: readInput,
    outputSchema: v.string(),
    effects: 'none',
    acceptsOverrides: false,
    execute({ section_key: key }, { session }) {
      const offered = new Set(openNodes(sections.collect(session)).flatMap(toolNamesOf));
      const nodes = findClosed([key], { ...disclosed, session }).flatMap((node) =>
        sections.collectUnder(node, session),
      );
      return toolOk(nodes.map((node) => fullText(node, { sections, offered })).join('\n\n'));
    },
    renderResult: (text) => text,
  });
}

/**
 * The sections among `keys` that are shown as summaries, depth-first, when all of `keys` are there or under one of them.
 *
 * @throws HoldfastError `section.unknown`, `section.hidden`, `section.open`.
 */
function findClosed(
  keys: readonly string[],
  { tree, sections, session }: Disclosed & { readonly session: SessionReader },
): readonly SectionNode[] {
  const wanted = new Set(keys);
  const shown = sections.collect(session, { opening: wanted });
  const paths = new Set(shown.map(({ node }) => node.path));
  for (const key of wanted) {
    if (paths.has(key)) continue;
    const now = sections.collect(session);
    const code = tree.nodes.has(key) ? 'section.hidden' : 'section.unknown';
    const what = code === 'section.unknown' ? 'is no section' : whyHidden(key, now);
    throw new HoldfastError(code, `${quote(key)} ${what}. ${listClosed(now)}`, {
      data: { section: key.slice(0, 200) },
    });
  }
  const closed = shown.filter(({ node, visibility }) => visibility === 'summary' && wanted.has(node.path));
  if (closed.length > 0) return closed.map(({ node }) => node);
  const named = wanted.size === 0 ? 'No section was named' : `Open already: ${[...wanted].map(quote).join(', ')}`;
  throw new HoldfastError('section.open', `${named}. ${listClosed(shown)}`, { data: { sections: [...wanted] } });
}

function whyHidden(key: string, shown: readonly ShownSection[]): string {
  const above = shown.find(({ node, visibility }) => visibility === 'summary' && key.startsWith(`${node.path}.`));
  // Nothing that a model could do would bring a disabled section back.
  return above === undefined ? 'is not there now' : `is under ${quote(above.node.path)}, which has to be opened first`;
}

/** What cannot be rendered, for want of a parameter, has to fail the call that asks for it and not the run after it. */
function checkTexts(
  opening: ReadonlySet<string>,
  { sections, session }: Disclosed & { readonly session: SessionReader },
): void {
  for (const { node, visibility } of sections.collect(session, { opening })) {
    if (visibility === 'full' || opening.has(node.path)) sections.bodyOf(node);
    else sections.summaryOf(node);
  }
}

function listClosed(shown: readonly ShownSection[]): string {
  const closed = shown.filter(({ visibility }) => visibility === 'summary').map(({ node }) => quote(node.path));
  if (closed.length === 0) return 'No section is summarised.';
  const more = closed.length > maxListed ? ', …' : '';
  return `Summarised sections: ${closed.slice(0, maxListed).join(', ')}${more}.`;
}

const maxListed = 30;

function quote(key: string): string {
  return `\`${key.slice(0, 200)}\``;
}

function toolNamesOf({ tools }: SectionNode): readonly string[] {
  return tools.map(({ tool }) => tool.name);
}
