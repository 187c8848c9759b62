import type { CallFacts, DescribedCall, Describer, PlaceView } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { fetchFacts } from './fetch.ts';
import { fileFacts } from './files.ts';
import { shellFacts } from './shell.ts';
import { joinFacts, noFacts } from './union.ts';

export interface McpFactsOptions {
  /** The name of the server, as it stands in the names of its tools: `mcp__SERVER__TOOL`, `mcp_SERVER_TOOL`, `SERVER_TOOL`. */
  readonly server: string;
  /** Describers for tools of the server, by their names at the server. Default: file, shell and request tools by their usual names. */
  readonly describers?: readonly Describer[];
  /** Results come from the host itself, not from outsiders. Default false. */
  readonly trusted?: boolean;
}

/**
 * Facts of the tools of an MCP server. What no describer knows is `unclear`, and every argument that looks like a path counts as read and
 * written.
 */
export function mcpFacts({ server, describers, trusted = false }: McpFactsOptions): Describer {
  const known = describers ?? [fileFacts(), shellFacts(), fetchFacts()];
  const prefixes = [`mcp__${server}__`, `mcp_${server}_`, `${server}__`, `${server}_`];
  return {
    name: `mcp:${server}`,
    describe(call, view) {
      const prefix = prefixes.find((text) => call.tool.startsWith(text));
      if (prefix === undefined) return undefined;
      const inner: DescribedCall = { ...call, tool: call.tool.slice(prefix.length) };
      const found = known.flatMap((describer) => describer.describe(inner, view) ?? []);
      const facts = found.length > 0 ? joinFacts(found) : describeUnknown(inner, view);
      return { ...facts, untrusted: facts.untrusted || !trusted };
    },
  };
}

function describeUnknown({ tool, input }: DescribedCall, view: PlaceView): CallFacts {
  const paths = isPlainObject(input) ? Object.keys(input).filter((key) => looksLikePath(input[key])) : [];
  const guess = fileFacts({ tools: { [tool]: { reads: paths, writes: paths } } });
  const files = paths.length === 0 ? noFacts : (guess.describe({ tool, input }, view) ?? noFacts);
  return {
    ...files,
    unclear: [...files.unclear, { kind: 'tool', reason: `\`${tool.slice(0, 60)}\` is not known here` }],
  };
}

function looksLikePath(value: unknown): boolean {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return (
    items.length > 0 &&
    items.every(
      (item) => typeof item === 'string' && item.length < 1_000 && /^[^\n:]*$/.test(item) && /[/.~]/.test(item),
    )
  );
}
