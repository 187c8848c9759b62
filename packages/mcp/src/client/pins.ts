import { sha256 } from '@holdfast/core/internal';
import type { McpDefinition } from './definition.ts';

/** The definitions that a person has seen, as digests. JSON. */
export interface McpPins {
  /** Of the server's instructions; null without any. */
  readonly instructions: string | null;
  /** By the server's names for its tools. */
  readonly tools: Readonly<Record<string, string>>;
}

export function toPins(instructions: string | undefined, listed: readonly McpDefinition[]): McpPins {
  return {
    instructions: instructions === undefined ? null : sha256(instructions),
    tools: Object.fromEntries(listed.map(({ name, digest }) => [name, digest])),
  };
}

/** True if a tool is not the one that was pinned, or was not there. */
export function isUnseen({ name, digest }: McpDefinition, pins: McpPins | undefined): boolean {
  if (pins === undefined) return false;
  return !Object.hasOwn(pins.tools, name) || pins.tools[name] !== digest;
}

export function hasUnseenInstructions(instructions: string | undefined, pins: McpPins | undefined): boolean {
  return pins !== undefined && instructions !== undefined && sha256(instructions) !== pins.instructions;
}
