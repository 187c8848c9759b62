import type { Tool } from '@holdfast/core';
import { ReadOnlyMap } from '@holdfast/core/internal';
import type { BoundPolicy } from '@holdfast/core/types';
import { guide } from '../guide/judge-answer.ts';
import { renderOutputFormat } from '../output/format.ts';
import type { SectionNode, SectionTool } from '../section/node.ts';
import type { BoundSections, ShownSection } from './bound.ts';
import type { PromptParts, RenderedSections } from './types.ts';

/** Renders visible sections. `own` are the prompt's built-in tools, guarded by its own policies. */
export function renderSections<Output>(
  shown: readonly ShownSection[],
  {
    parts,
    sections,
    own,
  }: { readonly parts: PromptParts<Output>; readonly sections: BoundSections; readonly own: readonly SectionTool[] },
): RenderedSections<Output> {
  const { tree, format, completion } = parts;
  const open = openNodes(shown);
  const tools = [...open.flatMap((node) => node.tools), ...own];
  const offered = new Set(tools.map(({ tool }) => tool.name));
  const texts = shown.map(({ node, visibility }) =>
    visibility === 'full' ? fullText(node, { sections, offered }) : summaryText(node, sections),
  );
  if (format !== undefined) texts.push(renderOutputFormat(format));
  const policies = new Map<string, readonly BoundPolicy[]>();
  for (const node of open) for (const { tool } of node.tools) policies.set(tool.name, node.inForce);
  for (const { tool } of own) policies.set(tool.name, tree.promptPolicies);
  const overridden = tools.filter((tool) => tool.overridden);
  return Object.freeze({
    text: texts.join('\n\n'),
    tools: Object.freeze(tools.map(({ tool }): Tool => tool)),
    policies: new ReadOnlyMap(policies),
    allPolicies: tree.policies,
    toolParamDescriptions: new ReadOnlyMap(
      tools.map(({ tool, parameterDescriptions }) => [tool.name, parameterDescriptions]),
    ),
    ...(overridden.length === 0
      ? {}
      : { declarations: new ReadOnlyMap(overridden.map(({ tool, declaration }) => [tool.name, declaration])) }),
    ...(format === undefined ? {} : { output: format }),
    ...(parts.feedback.length === 0 ? {} : { feedback: parts.feedback }),
    ...(completion === undefined ? {} : { completion }),
    ...(format === undefined && completion === undefined && parts.feedback.length === 0 ? {} : { guide }),
  });
}

/** The sections shown in full. */
export function openNodes(shown: readonly ShownSection[]): readonly SectionNode[] {
  return shown.filter(({ visibility }) => visibility === 'full').map(({ node }) => node);
}

/** The full text of a section without its subsections, with the examples of offered tools. */
export function fullText(
  node: SectionNode,
  { sections, offered }: { readonly sections: BoundSections; readonly offered: ReadonlySet<string> },
): string {
  const blocks = [node.heading, sections.bodyOf(node)];
  for (const { tool, exampleBlock } of node.tools) if (offered.has(tool.name)) blocks.push(exampleBlock);
  for (const { tools, block } of node.taskExamples) if (tools.every((tool) => offered.has(tool))) blocks.push(block);
  return blocks.filter((block) => block !== '').join('\n\n');
}

function summaryText(node: SectionNode, sections: BoundSections): string {
  const hint = node.hasTools
    ? `This is a summary. To get the section \`${node.path}\` and its tools, call \`open_sections\`.`
    : `This is a summary. To read the section \`${node.path}\`, call \`read_section\`.`;
  return [node.heading, sections.summaryOf(node), hint].filter((block) => block !== '').join('\n\n');
}
