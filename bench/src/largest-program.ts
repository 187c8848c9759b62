// Every feature that is passed in as a value, for the bundle test.
export { createBudget, resumeRun, resumeToolCall, runAgent } from '@holdfast/executor';
export { createPrompt, markdownSection } from '@holdfast/prompt';
export { jsonSchema } from '@holdfast/schema/json';
export { createRedactor } from '@holdfast/session/redact';
