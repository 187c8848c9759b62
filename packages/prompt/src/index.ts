export { allComplete, anyComplete, filesExist } from './completion.ts';
export {
  type DeadlineFeedbackOptions,
  deadlineFeedback,
  everyCalls,
  everySeconds,
  fileCreated,
  type StaticFeedbackOptions,
  staticFeedback,
} from './feedback.ts';
export { type OutputFormatOptions, parseOutput, renderOutputFormat, toOutputFormat } from './output-format.ts';
export { type BindablePrompt, createPrompt, type PromptDefinition, type RenderedSections } from './prompt.ts';
export {
  type InputOf,
  type InputOfAll,
  markdownSection,
  type OutputOf,
  type Section,
  type SectionDefinition,
} from './section.ts';
export type { ToolParamDescription } from './tool-parameters.ts';
