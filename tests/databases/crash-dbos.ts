import { DBOS } from '@dbos-inc/dbos-sdk';
import { registerSessionWorkflow, type SessionResult, type SessionWorkflowOptions } from '@holdfast/driver-dbos';
import pg from 'pg';

/** Recovers the workflows of the executor, and returns what runs one to its end. The options of the first call stay. */
export async function launchDbos(
  settings: object,
  options: SessionWorkflowOptions['options'],
  executorID = 'first',
): Promise<(sessionId: string) => Promise<SessionResult>> {
  workflow ??= registerSessionWorkflow({ name: 'crash', options, retry: { intervalSeconds: 0.05, backoffRate: 1 } });
  const systemDatabasePool = new pg.Pool({ ...settings, max: 8 });
  // The next statement reports it.
  systemDatabasePool.on('error', () => undefined);
  DBOS.setConfig({ name: 'crash', systemDatabasePool, executorID, applicationVersion: '1', logLevel: 'error' });
  await DBOS.launch();
  const registered = workflow;
  return async (sessionId) => {
    const handle = await DBOS.startWorkflow(registered, { workflowID: sessionId })(sessionId, 'Work.');
    return handle.getResult({ pollingIntervalMs: 20 });
  };
}

let workflow: ReturnType<typeof registerSessionWorkflow> | undefined;
