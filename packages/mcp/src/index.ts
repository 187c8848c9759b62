export type { Elicit } from './client/elicit.ts';
export type { McpEvent } from './client/events.ts';
export { type McpTools, type McpToolsOptions, mcpTools } from './client/mcp-tools.ts';
export type { McpPins } from './client/pins.ts';
export { type Listening, type ListenOptions, listenMcp } from './server/listen.ts';
export { type McpServing, type ServeMcpOptions, serveMcp } from './server/serve-mcp.ts';
export { keepOpen, type McpSessions } from './server/sessions.ts';
