# Written by bddtorque. In your application: list(APPEND ZEPHYR_EXTRA_MODULES this folder) before find_package(Zephyr).
if(CONFIG_@macro@)
  zephyr_library_named(@prefix@)
  zephyr_library_sources(@listed@)
  zephyr_include_directories(${CMAKE_CURRENT_LIST_DIR}/../src)
endif()
