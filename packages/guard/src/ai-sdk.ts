export {
  type AiSdkApproval,
  type AiSdkApprovalRequest,
  type GovernedAiSdkTools,
  governTools,
} from './frameworks/ai-sdk.ts';
export type { GovernOptions } from './frameworks/run.ts';
