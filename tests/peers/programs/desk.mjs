// The payment service of all programs: a ledger, and a process that dies after the entry on request.
import { appendFileSync } from 'node:fs';

export const { MODEL_URL: url, LEDGER: ledger, CHECKPOINTS: checkpoints, DIES: dies } = process.env;

export async function refundOrder(order, euros) {
  appendFileSync(ledger, `${order} ${euros}\n`);
  if (dies) process.kill(process.pid, 'SIGKILL');
  return { order, euros };
}
