/**
 * The names of spans and attributes. Source: `docs/gen-ai/gen-ai-agent-spans.md` and the changelog of
 * open-telemetry/semantic-conventions-genai, at commit 002c8a6e, and `docs/gen-ai/mcp.md` there, at commit 0393513c; their status is
 * Development. A call of an MCP client is the span of its tool with MCP's attributes, as that page wants where both are traced. Nothing
 * there names a decision, so those begin with `holdfast.`.
 */
export const names = {
  operation: 'gen_ai.operation.name',
  conversation: 'gen_ai.conversation.id',
  model: 'gen_ai.request.model',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  call: 'gen_ai.tool.call.id',
  arguments: 'gen_ai.tool.call.arguments',
  result: 'gen_ai.tool.call.result',
  method: 'mcp.method.name',
  error: 'error.type',
  outcome: 'holdfast.outcome',
  decision: 'holdfast.decision',
  policy: 'holdfast.policy',
  reason: 'holdfast.reason',
  waited: 'holdfast.waited_ms',
  attempts: 'holdfast.attempts',
  writes: 'holdfast.writes',
  status: 'holdfast.status',
  plan: 'holdfast.plan.digest',
  resumed: 'holdfast.resumed',
  by: 'holdfast.approval.by',
} as const;

export const operations = {
  agent: 'invoke_agent',
  workflow: 'invoke_workflow',
  tool: 'execute_tool',
} as const;

/** Of span events. */
export const events = {
  decision: 'holdfast.decision',
  asked: 'holdfast.approval.requested',
  answered: 'holdfast.approval.answered',
  retry: 'holdfast.retry',
} as const;
