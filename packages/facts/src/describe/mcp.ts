import type { CallFacts, Describer, PlaceView } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { DescribedCall } from '@holdfast/core/types';
import { fetchFacts } from './fetch.ts';
import { fileFacts } from './files.ts';
import { shellFacts } from './shell.ts';
import { joinFacts, noFacts } from './union.ts';

export interface McpFactsOptions {
  /** The server's name as used in its tool names: `mcp__SERVER__TOOL`, `mcp_SERVER_TOOL`, `SERVER_TOOL`. */
  readonly server: string;
  /** Describers for the server's tools, by their names on the server. Default: common file, shell and request tools. */
  readonly describers?: readonly Describer[];
  /** True if the host trusts the server's results. Default false. */
  readonly trusted?: boolean;
}

/**
 * Facts of the tools of an MCP server. An unknown tool is `unclear`, and every argument that looks like a path counts as read and
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
    unclear: [...files.unclear, { kind: 'tool', reason: `unknown tool \`${tool.slice(0, 60)}\`` }],
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
