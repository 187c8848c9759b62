import { defineTool, HoldfastError, isHoldfastError, type SessionReader, type Tool, toolOk } from '@holdfast/core';
import { readExpansion } from '@holdfast/core/internal';
import type { RenderedPrompt, SectionOpening, ToolSession } from '@holdfast/core/types';
import * as v from 'valibot';
import type { BoundSections, ShownSection } from '../render/bound.ts';
import { fullText, openNodes } from '../render/render.ts';
import { type SectionNode, type SectionTool, toSectionTool } from '../section/node.ts';
import type { SectionTree } from '../section/tree.ts';
import { sectionsShown } from '../section/visibility.ts';

/** Tools and functions that open and read the summarized sections of a prompt. */
export interface SectionTools {
  /** `open_sections` while a summary has tools under it, `read_section` while one has none. */
  neededBy(shown: readonly ShownSection[]): readonly SectionTool[];
  /**
   * Opens sections permanently and returns a message for the model.
   *
   * @throws HoldfastError `section.unavailable`, and those of `render`.
   */
  expand(keys: readonly string[], session: Pick<ToolSession, 'read' | 'dispatch'>): string;
  /** See `Prompt.opening`. `render` returns the prompt's current state. */
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
    return `Opened ${opened.map(quote).join(', ')}: their instructions and tools are available from now on.`;
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
          // An earlier call of the same turn opened it, after the prompt of this one was rendered.
          if (!isHoldfastError(problem) || problem.reason !== 'open') throw problem;
          if (shown === undefined || render(session).text === shown.text) throw problem;
          return `The section that \`${toolName}\` needs is open now. Call the tool again.`;
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
  reason: v.pipe(v.string(), v.description('Why you need them')),
});

function toOpenTool(expand: SectionTools['expand']): Tool {
  return defineTool({
    name: 'open_sections',
    description: 'Open summarized sections of the instructions permanently, with their tools.',
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
    description: 'Read a summarized section of the instructions and its subsections. The section stays summarized.',
    inputSchema: readInput,
    outputSchema: v.string(),
    effects: 'none',
    acceptsOverrides: false,
    execute({ section_key: key }, { session }) {
      const open = openNodes(sections.collect(session));
      const offered = new Set(open.flatMap(({ tools }) => tools.map(({ tool }) => tool.name)));
      const nodes = findClosed([key], { ...disclosed, session }).flatMap((node) =>
        sections.collectUnder(node, session),
      );
      return toolOk(nodes.map((node) => fullText(node, { sections, offered })).join('\n\n'));
    },
    renderResult: (text) => text,
  });
}

/** Reasons of `section.unavailable`. */
type UnavailableReason = 'unknown' | 'hidden' | 'open';

/**
 * The summarized sections among `keys`, depth-first. Each key must be visible or below another key.
 *
 * @throws HoldfastError `section.unavailable`.
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
    const reason: UnavailableReason = tree.nodes.has(key) ? 'hidden' : 'unknown';
    const what = reason === 'unknown' ? 'is not a section' : whyHidden(key, now);
    throw new HoldfastError('section.unavailable', `${quote(key)} ${what}. ${listClosed(now)}`, {
      data: { reason, section: key.slice(0, 200) },
    });
  }
  const closed = shown.filter(({ node, visibility }) => visibility === 'summary' && wanted.has(node.path));
  if (closed.length > 0) return closed.map(({ node }) => node);
  const named = wanted.size === 0 ? 'No section given' : `Already open: ${[...wanted].map(quote).join(', ')}`;
  throw new HoldfastError('section.unavailable', `${named}. ${listClosed(shown)}`, {
    data: { reason: 'open', sections: [...wanted] },
  });
}

function whyHidden(key: string, shown: readonly ShownSection[]): string {
  const above = shown.find(({ node, visibility }) => visibility === 'summary' && key.startsWith(`${node.path}.`));
  // A model cannot enable a disabled section.
  return above === undefined ? 'is disabled' : `is under ${quote(above.node.path)}, which must be opened first`;
}

/** Renders the texts early: a missing parameter fails this call, not the run. */
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
  if (closed.length === 0) return 'No section is summarized.';
  const more = closed.length > maxListed ? ', …' : '';
  return `Summarized sections: ${closed.slice(0, maxListed).join(', ')}${more}.`;
}

const maxListed = 30;

function quote(key: string): string {
  return `\`${key.slice(0, 200)}\``;
}
