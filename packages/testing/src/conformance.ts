export {
  type ExecutorConformanceOptions,
  type ExecutorLack,
  type ExecutorProgram,
  type ExecutorRun,
  executorConformance,
  type WrittenCall,
} from './conformance/executor.ts';
export {
  type ModelConformanceOptions,
  type ModelUnderTest,
  modelConformance,
  type ProviderReply,
} from './conformance/model.ts';
export { type StoreConformanceOptions, storeConformance } from './conformance/store.ts';
