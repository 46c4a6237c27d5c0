import type { ISettingRegistry } from "@jupyterlab/settingregistry";
import { defaultsOf, setDefaults } from "../host/defaults";
import { type Keys, keysOf } from "./keys";

/** Makes all explorers of the page, even live ones, follow the settings (schema/explorer.json). */
export async function followSettings(
  registry: ISettingRegistry,
  pluginId: string,
  setKeys: (keys: Keys) => void,
  page: DOMStringMap = document.documentElement.dataset,
): Promise<void> {
  let settings: ISettingRegistry.ISettings;
  try {
    settings = await registry.load(pluginId);
  } catch (reason) {
    console.warn(
      `ckpt-viz: cannot read the settings of ${pluginId}; explorers use the defaults.`,
      reason,
    );
    return;
  }
  const set = () => {
    setKeys(keysOf(settings.composite.keys));
    const { colours, expansionDepth, firstView, showBookkeeping, showMatched } = settings.composite;
    setDefaults(
      page,
      defaultsOf({
        view: firstView,
        depth: expansionDepth,
        bookkeeping: showBookkeeping,
        matched: showMatched,
      }),
      colours === "classic",
    );
  };
  settings.changed.connect(set);
  set();
}
