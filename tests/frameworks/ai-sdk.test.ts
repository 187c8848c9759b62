import { aiSdk } from './ai-sdk.ts';
import { testDriver } from './scenarios.ts';

testDriver(aiSdk);
