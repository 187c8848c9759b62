import { defineTool, type Tool } from '@holdfast/core';
import { sha256 } from '@holdfast/core/internal';
import * as v from 'valibot';

const plainName = /^[a-z0-9_-]{1,64}$/;

/**
 * The name under which policies and records know a tool of an agent: `Bash` is `bash`. A name that this would cut or change further
 * gets a digest, so that two tools never share one.
 */
export function toToolName(name: string): string {
  const lower = name.toLowerCase();
  if (plainName.test(lower)) return lower;
  const readable = lower.replaceAll(/[^a-z0-9_-]+/g, '_').slice(0, 55);
  return `${readable}-${sha256(name).slice(0, 8)}`;
}

const anyInput = v.looseObject({});

/** A tool whose body runs in the agent: it may do anything, once. */
function defineAgentTool(name: string): Tool {
  return defineTool({
    name: toToolName(name),
    description: `\`${name}\` of the agent.`,
    inputSchema: anyInput,
    effects: 'external',
    repeat: 'never',
    dangerous: false,
  }) as Tool;
}

/** The tools of an agent that were named so far. */
export class AgentTools {
  readonly #byName = new Map<string, Tool>();
  /** The same list until a tool joins it: the executor compiles a list once. */
  list: readonly Tool[] = [];

  add(name: string): void {
    const toolName = toToolName(name);
    if (this.#byName.has(toolName)) return;
    this.#byName.set(toolName, defineAgentTool(name));
    this.list = [...this.#byName.values()];
  }
}
