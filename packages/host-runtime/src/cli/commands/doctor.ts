import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { peekOwner } from "../../store/lock.ts";
import { loadSqlDriver } from "../../store/sqlite-driver.ts";
import { VERSION } from "../../version.ts";
import type { Call, Settings } from "../command.ts";
import { overall, runChecks } from "../doctor/check.ts";
import type { Check } from "../doctor/check.ts";
import { configCheck, environmentCheck } from "../doctor/config.ts";
import { feishuChecks } from "../doctor/feishu.ts";
import { dataFolderCheck, logFileCheck, sessionsFolderCheck, temporaryFolderCheck, tokenFileCheck } from "../doctor/folders.ts";
import { harnessCheck, harnessNamesCheck } from "../doctor/harness.ts";
import { codexCheck, nodeCheck } from "../doctor/programs.ts";
import { report } from "../doctor/report.ts";
import { portCheck, storeCheck } from "../doctor/server.ts";
import { surroundings } from "../native.ts";
import { defaultConfigPath } from "../options/config-file.ts";
import { serverOptions } from "../server-options.ts";
import { chosenHarnesses } from "../start-host.ts";
import type { DOCTOR_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

/** A harness may have to start its program to say its version. */
const CHECK_MS = 10_000;

export async function run({ settings, env, flags, stdout }: Call<typeof DOCTOR_OPTIONS>): Promise<number> {
  let found: Settings<typeof DOCTOR_OPTIONS> | null = null;
  let broken: UsageError | null = null;
  try {
    found = await settings();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    broken = error;
  }
  const results = await runChecks(found === null ? brokenChecks(broken!) : checksOf(found, env), CHECK_MS);
  const status = overall(results);
  if (flags["json"] === true) stdout.write(`${JSON.stringify({ version: VERSION, protocol: PROTOCOL_VERSION, status, checks: results })}\n`);
  else stdout.write(report(results));
  return status === "fault" ? 1 : 0;
}

/** Without settings, what does not depend on them. */
function brokenChecks({ message }: UsageError): Check[] {
  return [nodeCheck(process.version), { id: "settings", run: () => ({ status: "fault", found: message, next: "correct it; the rest is looked at then" }) }, temporaryFolderCheck()];
}

function checksOf({ values, file }: Settings<typeof DOCTOR_OPTIONS>, env: NodeJS.ProcessEnv): Check[] {
  // Their own check says what is wrong with it.
  const options = serverOptions({ ...values, "ws-auth": null, "ws-token-file": null, sessions: [] }, file, env);
  const driver = loadSqlDriver();
  const owner = driver === null ? null : peekOwner(driver, options.dataDir).owner;
  // What only replays is not ready on purpose: no news, unless somebody asked for it.
  const chosen = chosenHarnesses(options).filter(({ isReplayOnly }) => isReplayOnly !== true || options.harnesses !== null);
  return [
    nodeCheck(process.version),
    configCheck(file, defaultConfigPath(env)),
    environmentCheck(env),
    codexCheck({ bin: values["codex-bin"], wanted: !values["no-native"], around: surroundings(env) }),
    harnessNamesCheck(options),
    ...chosen.map((entry) => harnessCheck(entry, options)),
    portCheck({ host: values.host, port: values.port, hasToken: values["ws-token-file"] !== null, ownerUrl: owner?.url ?? null }),
    dataFolderCheck(options.dataDir),
    storeCheck(options.dataDir, driver),
    tokenFileCheck(values["ws-token-file"]),
    ...values.sessions.map(sessionsFolderCheck),
    logFileCheck(values["log-file"]),
    temporaryFolderCheck(),
    ...feishuChecks({ env, file, wanted: values.feishu }),
  ];
}
