/**
 * The properties that Card JSON 2.0 knows (Feishu's component pages). Any other is refused with 200621. A property holds a
 * `value` that is not looked into, one `element` or a list of `elements` (told apart by their `tag`), or an object or
 * list of objects of a named shape.
 */
export type Kind = "value" | "element" | "elements" | { readonly object: ShapeName } | { readonly list: ShapeName };
export type Shape = Readonly<Record<string, Kind>>;
export type ShapeName = "card" | "config" | "summary" | "links" | "header" | "body" | "panelHeader" | "border" | "behavior" | "confirm" | "option" | "multiUrl";

const values = (...names: readonly string[]): Record<string, Kind> => Object.fromEntries(names.map((name) => [name, "value"]));
const arrange = values("direction", "padding", "horizontal_spacing", "horizontal_align", "vertical_spacing", "vertical_align");
const common = values("tag", "element_id", "margin");
const behaviors: Record<string, Kind> = { behaviors: { list: "behavior" }, confirm: { object: "confirm" }, value: "value" };
const tips: Record<string, Kind> = { disabled: "value", disabled_tips: "element", hover_tips: "element" };
const picker: Record<string, Kind> = { ...common, ...behaviors, ...tips, ...values("name", "required", "width", "type"), placeholder: "element" };

export const objects: Readonly<Record<ShapeName, Shape>> = {
  card: { schema: "value", config: { object: "config" }, card_link: { object: "links" }, header: { object: "header" }, body: { object: "body" } },
  config: {
    ...values("streaming_mode", "streaming_config", "locales", "enable_forward", "update_multi", "width_mode", "use_custom_translation", "enable_forward_interaction", "style"),
    summary: { object: "summary" },
  },
  summary: values("content", "i18n_content"),
  links: values("url", "pc_url", "ios_url", "android_url"),
  header: { title: "element", subtitle: "element", text_tag_list: "elements", i18n_text_tag_list: "value", template: "value", icon: "element", padding: "value" },
  body: { ...arrange, elements: "elements" },
  panelHeader: { title: "element", icon: "element", ...values("background_color", "vertical_align", "padding", "position", "width", "icon_position", "icon_expanded_angle") },
  border: values("color", "corner_radius"),
  behavior: values("type", "value", "default_url", "pc_url", "ios_url", "android_url"),
  confirm: { title: "element", text: "element" },
  option: { text: "element", icon: "element", value: "value" },
  multiUrl: { multi_url: { object: "links" } },
};

/** Parts that hold other components; they may be five deep. */
export const containers = new Set(["collapsible_panel", "column_set", "form", "interactive_container"]);
/** Parts that a person acts on; in a form each needs a name. */
export const interactive = new Set([
  "button", "input", "select_static", "multi_select_static", "select_person", "multi_select_person", "date_picker", "picker_time", "picker_datetime", "checker", "select_img", "overflow",
]);
/** Of Card JSON 1.0 only. */
export const oldTags = new Set(["note", "action"]);

export const elements: Readonly<Record<string, Shape>> = {
  plain_text: { ...common, ...values("content", "i18n_content", "text_size", "text_color", "text_align", "lines") },
  lark_md: { ...common, ...values("content", "i18n_content", "text_size", "text_color", "text_align", "lines") },
  markdown: { ...common, ...values("content", "i18n_content", "text_size", "text_align"), icon: "element" },
  text_tag: { ...common, color: "value", text: "element" },
  standard_icon: { ...common, ...values("token", "color", "size") },
  custom_icon: { ...common, ...values("img_key", "size") },
  div: { ...common, width: "value", text: "element", icon: "element", fields: "value" },
  hr: common,
  img: { ...common, ...values("img_key", "corner_radius", "scale_type", "size", "transparent", "preview"), alt: "element", title: "element" },
  column_set: { ...common, ...values("horizontal_spacing", "horizontal_align", "flex_mode", "background_style"), columns: "elements", action: { object: "multiUrl" } },
  column: { ...common, ...arrange, ...values("width", "weight", "background_style"), elements: "elements", action: { object: "multiUrl" } },
  collapsible_panel: { ...common, ...arrange, ...values("expanded", "background_color"), header: { object: "panelHeader" }, border: { object: "border" }, elements: "elements" },
  form: { ...common, ...arrange, name: "value", elements: "elements" },
  interactive_container: {
    ...common, ...arrange, ...behaviors, ...tips, ...values("width", "height", "background_style", "has_border", "border_color", "corner_radius"), elements: "elements",
  },
  button: { ...common, ...behaviors, ...tips, ...values("type", "size", "width", "name", "required", "form_action_type", "action_type", "url"), text: "element", icon: "element" },
  input: { ...picker, ...values("default_value", "max_length", "input_type", "show_icon", "rows", "auto_resize", "max_rows", "label_position"), label: "element" },
  select_static: { ...picker, ...values("initial_option", "initial_index"), options: { list: "option" } },
  multi_select_static: { ...picker, selected_values: "value", options: { list: "option" } },
  checker: { ...common, ...behaviors, ...tips, ...values("name", "checked", "overall_checkable", "button_area", "checked_style", "padding"), text: "element" },
  select_person: { ...picker, ...values("initial_option", "options") },
  multi_select_person: { ...picker, ...values("selected_values", "options") },
  date_picker: { ...picker, initial_date: "value" },
  picker_time: { ...picker, initial_time: "value" },
  picker_datetime: { ...picker, initial_datetime: "value" },
  overflow: { ...common, ...behaviors, width: "value", options: { list: "option" } },
  table: { ...common, ...values("page_size", "row_height", "row_max_height", "freeze_first_column", "header_style", "columns", "rows") },
  person: { ...common, ...values("user_id", "size", "show_avatar", "show_name", "style") },
  person_list: { ...common, ...values("persons", "lines", "show_name", "show_avatar", "size"), icon: "element" },
  chart: { ...common, ...values("chart_spec", "aspect_ratio", "color_theme", "preview", "height") },
  img_combination: { ...common, ...values("combination_mode", "corner_radius", "img_list", "combination_transparent") },
  select_img: { ...common, ...behaviors, ...values("name", "multi_select", "layout", "required", "can_preview", "aspect_ratio", "options", "style") },
  audio: { ...common, ...values("file_key", "audio_id", "show_time", "style", "background_color", "fill_color", "fallback") },
};
