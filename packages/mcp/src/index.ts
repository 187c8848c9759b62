export type { Elicit, QuestionKind } from './client/elicit.ts';
export type { McpEvent } from './client/events.ts';
export type { McpTools, McpToolsOptions } from './client/imported.ts';
export { mcpTools } from './client/mcp-tools.ts';
export { type McpPins, type McpSeen, toPins } from './client/pins.ts';
export {
  findDrift,
  type McpDrift,
  type McpServerPin,
  type McpStart,
  pinsOf,
  readServerPin,
  startsOtherwise,
  toServerPin,
} from './client/server-pin.ts';
export type { HeldServer, ServedTools } from './server/declare-tools.ts';
export type { FirstClient } from './server/first-client.ts';
export { type Listening, type ListenOptions, listenMcp } from './server/listen.ts';
export { type McpServing, type ServeMcpOptions, serveMcp } from './server/serve-mcp.ts';
export { keepOpen, type McpSessions } from './server/sessions.ts';
