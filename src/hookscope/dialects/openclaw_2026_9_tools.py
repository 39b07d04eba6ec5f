"""Tools in openclaw 2026.9.6: their groups and other names, and which of them a handler may ask to hear of.

Source: rules-openclaw section 6, "groups expanded" and "Other options"; the sentences are the program's.
"""

from hookscope.systems.plugins.tool_lists import ToolNames

_GROUPS = {
    "group:openclaw": (
        "code_execution secrets web_search web_fetch x_search memory_search memory_get sessions "
        "sessions_list sessions_history sessions_search conversations_list conversations_send "
        "conversations_turn sessions_send sessions_spawn github_identity_status github_publish "
        "agents_wait sessions_yield subagents session_status suggest_task dismiss_task browser screen "
        "theme dashboard terminal portal show_widget message heartbeat_respond automations gateway "
        "plugins openclaw nodes computer mobile_ui agents_list get_goal create_goal update_goal "
        "progress_card ask_user skill_workshop view_image image_generate music_generate video_generate "
        "tts pdf"
    ),
    "group:fs": "ls read write edit apply_patch",
    "group:runtime": "exec process code_execution secrets",
    "group:web": "web_search web_fetch x_search",
    "group:memory": "memory_search memory_get",
    "group:sessions": (
        "sessions sessions_list sessions_history sessions_search conversations_list conversations_send "
        "conversations_turn sessions_send sessions_spawn github_identity_status github_publish "
        "agents_wait sessions_yield subagents session_status suggest_task dismiss_task"
    ),
    "group:ui": "browser screen theme dashboard terminal portal canvas show_widget",
    "group:messaging": "message",
    "group:automation": "heartbeat_respond automations gateway plugins openclaw",
    "group:nodes": "nodes computer mobile_ui",
    "group:agents": "agents_list get_goal create_goal update_goal progress_card ask_user skill_workshop",
    "group:media": "view_image image_generate music_generate video_generate tts pdf",
}
TOOLS = ToolNames(
    {name: tuple(tools.split()) for name, tools in _GROUPS.items()},
    {"bash": "exec", "apply-patch": "apply_patch", "cron": "automations"},
    strangers=frozenset({"bash", "exec_command", "apply-patch", "Write", "Edit", "agent"}),
    no_stranger="entries must use canonical OpenClaw tool ids",
)
