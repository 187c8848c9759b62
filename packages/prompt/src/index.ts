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
