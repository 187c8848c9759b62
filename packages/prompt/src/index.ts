export type { BindablePrompt, RenderedSections } from './bindable-prompt.ts';
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
export { createPrompt, type PromptDefinition } from './prompt.ts';
export {
  type InputOf,
  type InputOfAll,
  markdownSection,
  type OutputOf,
  type Section,
  type SectionDefinition,
  type TaskExample,
  type TaskStep,
  type Visibility,
  type VisibilityRule,
} from './section.ts';
export { clearSections, showSections } from './show-sections.ts';
export type { ToolParamDescription } from './tool-parameters.ts';
