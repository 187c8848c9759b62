// Every feature that a value brings, for the test of what is in a bundle.
export { createBudget, resumeRun, resumeToolCall, runAgent } from '@holdfast/executor';
export { createPrompt, markdownSection } from '@holdfast/prompt';
export { jsonSchema } from '@holdfast/schema/json';
export { createRedactor } from '@holdfast/session/redact';
